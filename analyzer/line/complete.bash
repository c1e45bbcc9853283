# Completion of @program@, which says itself what may stand there.
_@function@()
{
	local cur=${COMP_WORDS[COMP_CWORD]} file line rest i
	local -a words=() places=(0) list files

	COMPREPLY=()
	# --name=value comes as three words.
	[[ $cur == = ]] && cur=
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == = ]] || { words+=("${COMP_WORDS[i]}"); places+=("$i"); }
	done
	places+=("$COMP_CWORD")
	mapfile -t list < <("${COMP_WORDS[0]}" __complete "${words[@]}" "$cur" 2>/dev/null)
	for line in "${list[@]}"; do
		rest=${line#* }
		case $line in
		:command*)
			i=${places[rest]}
			if ((i < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
				_command_offset "$i"
			else
				mapfile -t COMPREPLY < <(compgen -c -- "$cur"; compgen -f -- "$cur")
			fi ;;
		:files*)
			# With "filenames" a verb would become the folder of that name.
			for file in "${COMPREPLY[@]}"; do
				[[ -d $file ]] && return
			done
			mapfile -t files < <(compgen -f -X "!*$rest" -- "$cur"; compgen -d -- "$cur")
			((${#files[@]})) || mapfile -t files < <(compgen -f -- "$cur")
			compopt -o filenames 2>/dev/null
			COMPREPLY+=("${files[@]}") ;;
		:folders)
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
		"$cur"*)
			COMPREPLY+=("${line%%$'\t'*}") ;;
		esac
	done
}
complete -F _@function@ @program@
