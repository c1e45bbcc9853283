# Completion of @program@, which says itself what may stand there.
function __@function@
	set -l words (commandline -opc)
	set -l cur (commandline -ct)
	set -l option (string match -r -- '^--[^=]*=' $cur)

	if test -n "$option"
		set words $words (string trim -r -c = -- $option)
		set cur (string replace -- $option '' $cur)
	end
	for line in ($words[1] __complete $words[2..] "$cur" 2>/dev/null)
		set -l rest (string split -m 1 ' ' -- $line)[2]
		switch $line
			case ':command*'
				__fish_complete_subcommand --fcs-skip=$rest
			case ':files*'
				__fish_complete_suffix $rest
			case :folders
				__fish_complete_directories "$cur"
			case '*'
				echo -- "$option$line"
		end
	end
end
complete -c @program@ -f -k -a '(__@function@)'
