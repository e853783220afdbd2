/** Colours of the current theme, by meaning. */
import type { Span } from '../../../../shared/protocol.ts';

export interface Palette {
  text: string;
  dim: string;
  background: string;
  gutter: string;
  focus: string;
  font: string;
  /** Of high-contrast themes, which draw lines where others shade. */
  contrast: string | null;
  bars: Record<Span['state'], string>;
}

export const OUTCOMES: readonly Span['state'][] = [
  'running',
  'succeeded',
  'failed',
  'timed_out',
  'abandoned',
  'canceled',
];

/** Reads the theme's variables off the document. */
export function readPalette(element: HTMLElement): Palette {
  const style = getComputedStyle(element);
  const color = (name: string, otherwise: string): string =>
    style.getPropertyValue(`--vscode-${name}`).trim() || otherwise;
  const text = color('foreground', '#888');
  return {
    text,
    dim: color('descriptionForeground', text),
    background: color('editor-background', '#1e1e1e'),
    gutter: color('sideBar-background', color('editor-background', '#1e1e1e')),
    focus: color('focusBorder', '#007fd4'),
    font: `${style.getPropertyValue('--vscode-font-size').trim() || '13px'} ${color('font-family', 'sans-serif')}`,
    contrast: style.getPropertyValue('--vscode-contrastBorder').trim() || null,
    bars: {
      running: color('charts-blue', '#3794ff'),
      succeeded: color('charts-green', '#89d185'),
      failed: color('charts-red', '#f14c4c'),
      // charts-orange is a highlighter's colour in light themes, too faint for a bar.
      timed_out: color('editorWarning-foreground', '#d18616'),
      abandoned: color('charts-purple', '#b180d7'),
      canceled: color('disabledForeground', '#888'),
    },
  };
}
