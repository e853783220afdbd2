/** The words of an unfinished command line, as bash leaves them to us: quotes may still be open. */

/** Words up to the end of `line`; the last is what is being typed, empty after a space. */
export function wordsOf(line: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let index = 0; index < line.length; index++) {
    const char = line[index] ?? '';
    if (quote === null && /\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
      continue;
    }
    word ??= '';
    if (char === '\\' && quote !== "'") word += line[++index] ?? '';
    else if (quote !== null ? char === quote : char === "'" || char === '"') quote = quote === null ? char : null;
    else word += char;
  }
  words.push(word ?? '');
  return words;
}
