/**
 * Completion scripts. Each asks the hidden verb `__complete` with the words up to the cursor, and
 * reads one candidate a line: value, a tab, what it is. A last line `:files`, `:folders` or `:command`
 * hands over to the shell's own completion.
 */

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

const BASH = `# bash completion for lane. Put into ~/.bashrc:  source <(lane completion bash)
_lane() {
  local line="\${COMP_LINE:0:COMP_POINT}" cur="\${COMP_WORDS[COMP_CWORD]}" full prefix= entry
  COMPREPLY=()
  # Bash splits words at = and : as well; what stands before the last of them is there already.
  full="\${line##*[[:space:]]}"
  if [[ "$full" == *[=:]* && "$COMP_WORDBREAKS" == *[=:]* ]]; then
    prefix="\${full%"\${full##*[=:]}"}"
    [[ "$cur" == [=:] ]] && cur=
  fi
  while IFS= read -r entry; do
    case "$entry" in
      :files) COMPREPLY+=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null ;;
      :folders) COMPREPLY+=($(compgen -d -- "$cur")); compopt -o filenames 2>/dev/null ;;
      :command) COMPREPLY+=($(compgen -c -- "$cur")) ;;
      *) entry="\${entry%%$'\\t'*}"; COMPREPLY+=("\${entry#"$prefix"}") ;;
    esac
  done < <(command lane __complete bash -- "$line" 2>/dev/null)
  [[ "\${COMPREPLY[0]-}" == *[=,] ]] && compopt -o nospace 2>/dev/null
}
complete -F _lane lane
`;

const ZSH = `#compdef lane
# zsh completion for lane. Put into ~/.zshrc after compinit:  source <(lane completion zsh)
_lane() {
  local entry value
  local -a values shown
  while IFS= read -r entry; do
    case "$entry" in
      :files) _files; return ;;
      :folders) _files -/; return ;;
      :command) _command_names -e; return ;;
    esac
    value="\${entry%%$'\\t'*}"
    values+=("$value")
    [[ "$entry" == *$'\\t'?* ]] && shown+=("$value -- \${entry#*$'\\t'}") || shown+=("$value")
  done < <(command lane __complete zsh -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#values )) && compadd -l -d shown -a values
}
if [[ "$funcstack[1]" = _lane ]]; then _lane "$@"; else compdef _lane lane; fi
`;

const FISH = `# fish completion for lane. Put into ~/.config/fish/completions/lane.fish:  lane completion fish > …
function __lane_complete
  set -l words (commandline -opc)[2..-1] (commandline -ct)
  for entry in (command lane __complete fish -- $words 2>/dev/null)
    switch $entry
      case ':files'
        __fish_complete_path (commandline -ct)
      case ':folders'
        __fish_complete_directories (commandline -ct)
      case ':command'
        __fish_complete_command
      case '*'
        echo $entry
    end
  end
end
complete -c lane -f -a '(__lane_complete)'
`;

const POWERSHELL = `# PowerShell completion for lane. Put into $PROFILE:  lane completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName lane -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  # The dot before the last word keeps an empty one from being dropped; lane takes it off.
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition -or ($_.Extent.EndOffset -eq $cursorPosition -and $wordToComplete -eq '') } |
    ForEach-Object { $_.Extent.Text.Trim("'", '"') }) + @(".$wordToComplete")
  & lane __complete powershell '--' $words 2>$null | ForEach-Object {
    $value, $says = $_ -split "\`t", 2
    if ($value -eq ':files' -or $value -eq ':folders' -or $value -eq ':command') {
      [System.Management.Automation.CompletionCompleters]::CompleteFilename($wordToComplete)
    } else {
      if (-not $says) { $says = $value }
      [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $says)
    }
  }
}
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL };
