/** What is said of a bar: in its tooltip and to a screen reader. */
import { sayDuration, sayTime } from '../../../../shared/format.ts';
import type { Span } from '../../../../shared/protocol.ts';
import { escapeControls, truncate } from '../../../../shared/text.ts';
import { endOf } from './scene.ts';

export function stateWords(state: Span['state']): string {
  return state === 'timed_out' ? 'timed out' : state;
}

/** Lines: what it is, how it went, how long it waited and ran, what a click does. */
export function tipLines(span: Span, now: number): string[] {
  const took = sayDuration(endOf(span, now) - span.startedAt);
  const waited = span.startedAt - span.waitingSince;
  return [
    `#${span.jobId}.${span.attempt} ${truncate(escapeControls(span.title), 120)}`,
    span.finishedAt === null ? `running for ${took}` : `${stateWords(span.state)} after ${took}`,
    `started ${sayTime(span.startedAt)}${waited > 0 ? `, waited ${sayDuration(waited)}` : ''}`,
    `lane ${span.lane}`,
  ];
}

/** The same as one sentence. */
export function spoken(span: Span, now: number): string {
  return tipLines(span, now).join(', ');
}
