/* SPDX-License-Identifier: Apache-2.0 */
/* cv.cc - an OpenCV that makes an empty image, or throws. */
#include <stdexcept>
#include <string>

namespace cv
{
class Mat
{
public:
	int flags, dims, rows, cols;
	void *data;
	Mat *self;	/* a copy by bytes would not do */
	char rest[64];

	Mat(int width, int height) : flags(0), dims(2), rows(height), cols(width), data(nullptr), self(this)
	{
	}
	Mat(const Mat &other) : flags(0), dims(2), rows(other.rows), cols(other.cols), data(nullptr), self(this)
	{
	}
	~Mat()
	{
		flags = -1;
	}
};

Mat imread(const std::string &path, int flags)
{
	if (path == "corrupt.png")
		throw std::runtime_error("corrupt");
	return Mat(flags, 10);
}
} // namespace cv
