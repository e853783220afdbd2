import { invalid, parseChoice } from '../args.ts';
import { SCRIPTS, SHELLS } from '../completion/scripts.ts';
import { noWords } from '../selection.ts';
import { verb } from '../verb.ts';

export default verb({
  name: 'completion',
  summary: 'The script that lets a shell complete verbs, flags, job ids and lanes',
  usage: SHELLS.map((shell) => `lane completion ${shell}`),
  subwords: SHELLS,
  flags: {},
  examples: [
    { line: 'source <(lane completion bash)', says: 'In ~/.bashrc' },
    { line: 'source <(lane completion zsh)', says: 'In ~/.zshrc, after compinit' },
    { line: 'lane completion fish > ~/.config/fish/completions/lane.fish', says: 'Once' },
    { line: 'lane completion powershell | Out-String | Invoke-Expression', says: 'In $PROFILE' },
  ],
  async run(context, { words }) {
    const [given, ...more] = words;
    if (given === undefined) throw invalid('no shell is named', `Use one of ${SHELLS.join(', ')}.`);
    noWords(more, 'completion SHELL');
    context.out(SCRIPTS[parseChoice(given, SHELLS)]);
    return 0;
  },
});
