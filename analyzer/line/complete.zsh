#compdef @program@
# Completion of @program@, which says itself what may stand there.
_@function@()
{
	local -a before=("${(@)words[2,CURRENT-1]}") list
	local cur=${words[CURRENT]} line rest

	# --name=value
	if [[ $cur == --*=* ]]; then
		before+=("${cur%%=*}")
		cur=${cur#*=}
		compset -P '*='
	fi
	for line in "${(@f)$("${words[1]}" __complete "${before[@]}" "$cur" 2>/dev/null)}"; do
		rest=${line#* }
		case $line in
		:command*)
			shift $rest words
			((CURRENT -= rest))
			_normal ;;
		:files*)
			_files -g "*$rest" ;;
		:folders)
			_files -/ ;;
		?*)
			line=${line//:/\\:}
			list+=("${line/$'\t'/:}") ;;
		esac
	done
	if [[ $cur == -* ]]; then
		_describe -o option list
	elif ((${#list})); then
		_describe word list
	fi
}
_@function@ "$@"
