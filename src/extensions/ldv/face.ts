/** What others see of an action in the form of LDV: its lines, and the logbooks that they have passed, by their `PUBLIC_BASE_URL`. */
import type { Versie } from '../../verwerkingenlog/domain/verwerkingsactie.ts';
import { spansOf } from './mapping.ts';
import type { Span } from './span.ts';
import { LOGBOOKS } from './stored-line.ts';

/**
 * The lines of an action. An entry of the service itself is in the trace of the call that it is about, below the span of the caller:
 * that is how the caller's log and this one are read together.
 */
export function ldvLinesOf(versie: Versie, base: string): Span[] {
  const spans = spansOf(versie, base);
  const { traceId, ouderSpanId } = versie;
  if (traceId === null) return spans;
  return spans.map((span, i) => ({
    ...span,
    traceId: traceId.replaceAll('-', ''),
    ...(i === 0 && ouderSpanId !== null ? { parentSpanId: ouderSpanId } : {}),
  }));
}

/** The logbooks that a line has passed, as its resource says. */
export function logbooksOf({ resource }: Pick<Span, 'resource'>): readonly string[] {
  const value = resource.get(LOGBOOKS);
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** The line as it is forwarded: it has passed this logbook too. @param own `PUBLIC_BASE_URL` */
export function forwarded(span: Span, own: string): Span {
  return { ...span, resource: new Map([...span.resource, [LOGBOOKS, [...logbooksOf(span), own]]]) };
}

/** A line of a sender that is not a logbook: nothing that it says of logbooks counts, or it could keep its lines from one. */
export function withoutLogbooks(span: Span): Span {
  if (!span.resource.has(LOGBOOKS)) return span;
  return { ...span, resource: new Map([...span.resource].filter(([name]) => name !== LOGBOOKS)) };
}
