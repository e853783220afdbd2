/**
 * Text from jobs, tasks and scripts where the editor would read markup into it: pickers and the
 * status bar draw `$(name)` as an icon, and notifications make `[text](command:…)` a link that
 * runs a command. What a project names its jobs is shown, never obeyed. Pure.
 */

/** For pickers and the status bar: `$(name)` stays the text it is. */
export function withoutIcons(text: string): string {
  return text.replace(/\$\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\)/g, String.raw`\$&`);
}

/** For notifications and their progress: nothing in the text is a link. */
export function withoutLinks(text: string): string {
  return text.replaceAll('](', '] (');
}
