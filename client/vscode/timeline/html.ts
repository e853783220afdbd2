/** The timeline's page: its own style and script, each with the nonce, and nothing from anywhere else. */

export interface PageOptions {
  nonce: string;
  /** The webview's URI of `dist/timeline.js`. */
  script: string;
  /** Name of the folder whose queue it shows. */
  folder: string;
  /** Path of that folder, by which the page is given back to its queue after a reload. */
  root: string;
}

export function timelineHtml({ nonce, script, folder, root }: PageOptions): string {
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Laneway Timeline</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body data-root="${escapeHtml(root)}">
<div id="bar" role="toolbar" aria-label="Timeline">
<strong id="folder">${escapeHtml(folder)}</strong>
<button id="live" type="button" aria-pressed="true" title="Follow what runs now (L)">Live</button>
<button id="fit" type="button" title="Show everything (F)">Fit</button>
<button id="in" type="button" title="Zoom in (+)" aria-label="Zoom in">+</button>
<button id="out" type="button" title="Zoom out (-)" aria-label="Zoom out">&#8722;</button>
<span id="legend" aria-hidden="true"></span>
<span id="note" role="status"></span>
</div>
<div id="stage">
<canvas id="canvas" tabindex="0" role="application" aria-roledescription="timeline" aria-label="Lanes over time. Arrow keys move between attempts, Enter opens the log, plus and minus zoom, F shows everything, L follows now." aria-describedby="said"></canvas>
<div id="tip" hidden></div>
<p id="empty" hidden>No job has run here yet. Add one with <b>Laneway: Add Job</b>, and its attempts appear here.</p>
</div>
<div id="said" role="status" aria-live="polite"></div>
<script nonce="${nonce}" src="${escapeHtml(script)}"></script>
</body>
</html>`;
}

const STYLE = `
html, body { height: 100%; margin: 0; padding: 0; overflow: hidden; }
body { display: flex; flex-direction: column; color: var(--vscode-foreground); background: var(--vscode-editor-background);
  font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); }
#bar { display: flex; flex-wrap: wrap; align-items: center; gap: 6px; padding: 6px 12px; border-bottom: 1px solid var(--vscode-panel-border, transparent); }
#folder { margin-right: 6px; }
button { font: inherit; padding: 2px 9px; border: 1px solid var(--vscode-button-border, transparent); border-radius: 2px; cursor: pointer;
  color: var(--vscode-button-secondaryForeground); background: var(--vscode-button-secondaryBackground); }
button:hover { background: var(--vscode-button-secondaryHoverBackground); }
button[aria-pressed="true"] { color: var(--vscode-button-foreground); background: var(--vscode-button-background); }
#live::before { content: '\\25cb  '; }
#live[aria-pressed="true"]::before { content: '\\25cf  '; }
button:focus-visible, canvas:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: -1px; }
#legend { display: flex; flex-wrap: wrap; gap: 10px; margin-left: 8px; color: var(--vscode-descriptionForeground); }
#legend span { display: inline-flex; align-items: center; gap: 4px; }
#legend i { width: 10px; height: 10px; border-radius: 2px; }
#legend i.waiting { height: 2px; border-radius: 0; }
#note { margin-left: auto; color: var(--vscode-descriptionForeground); }
#stage { position: relative; flex: 1; min-height: 0; }
canvas { position: absolute; inset: 0; width: 100%; height: 100%; display: block; }
#tip { position: absolute; max-width: 360px; padding: 5px 8px; pointer-events: none; white-space: pre-line; overflow-wrap: anywhere;
  color: var(--vscode-editorHoverWidget-foreground); background: var(--vscode-editorHoverWidget-background);
  border: 1px solid var(--vscode-editorHoverWidget-border); box-shadow: 0 2px 8px var(--vscode-widget-shadow, transparent); }
#empty { position: absolute; inset: 0; margin: 0; display: grid; place-content: center; text-align: center; color: var(--vscode-descriptionForeground); }
#tip[hidden], #empty[hidden] { display: none; }
#said { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
`;

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
