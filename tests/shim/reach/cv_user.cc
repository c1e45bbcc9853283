/* SPDX-License-Identifier: Apache-2.0 */
/* cv_user.cc - a caller of cv.cc. */
#include <cstdio>
#include <stdexcept>
#include <string>

namespace cv
{
class Mat
{
public:
	int flags, dims, rows, cols;
	void *data;
	Mat *self;
	char rest[64];
	Mat(const Mat &other);
	~Mat()
	{
		flags = -1;
	}
};
Mat imread(const std::string &path, int flags);
} // namespace cv

extern "C" int run(unsigned int width)
{
	int caught = 0;

	for (int i = 0; i < 3; i++) {
		try {
			cv::Mat mat = cv::imread("corrupt.png", 1);
		} catch (const std::runtime_error &) {
			caught++;
		}
	}
	cv::Mat mat = cv::imread("a.png", static_cast<int>(width));
	std::printf("caught %d, %d x %d, %s\n", caught, mat.cols, mat.rows,
		    mat.self == &mat ? "in its place" : "moved");
	return mat.cols;
}
