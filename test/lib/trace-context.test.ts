import { describe, expect, it } from 'vitest';
import { carriesTrace, newTraceContext, readTraceContext, traceHeaders } from '../../src/lib/trace-context.ts';
import { processorMs } from '../support/processor-time.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`;

function carriedState(tracestate: string): string | undefined {
  return traceHeaders(readTraceContext(PARENT, tracestate)).tracestate;
}

describe('the context passed on', () => {
  it("names the caller's trace, and our span as the parent", () => {
    const context = readTraceContext(PARENT);
    expect(traceHeaders(context)).toEqual({ traceparent: `00-${TRACE}-${context.spanId}-01` });
  });

  it.each([
    ['00', '00'],
    ['01', '01'],
    ['02', '02'],
    ['ff', '03'],
    ['fc', '00'],
  ])('keeps of the flags %s the known ones: %s', (given, carried) => {
    const { traceparent } = traceHeaders(readTraceContext(`cc-${TRACE}-00f067aa0ba902b7-${given}-more`));
    expect(traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-${carried}$`));
  });

  it('begins with a random trace', () => {
    expect(traceHeaders(newTraceContext()).traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-02$/);
  });

  it.each([
    ['a=b', 'a=b'],
    ['a=b, c=d', 'a=b,c=d'],
    ['a=b,,c=d,', 'a=b,c=d'],
    ['tenant@system=x y', 'tenant@system=x y'],
    ['9a/b*c_d-e=1', '9a/b*c_d-e=1'],
  ])('keeps the state %j as %j', (given, carried) => expect(carriedState(given)).toBe(carried));

  it.each([
    ['no value', 'a'],
    ['an empty value', 'a='],
    ['a capital', 'A=b'],
    ['a key that begins with a symbol', '@a=b'],
    ['two equals signs', 'a=b=c'],
    ['a character outside ASCII', 'a=é'],
    ['a key twice', 'a=b,a=c'],
    ['a key that is too long', `${'a'.repeat(257)}=b`],
    ['a value that is too long', `a=${'b'.repeat(257)}`],
    ['33 entries', Array.from({ length: 33 }, (_, n) => `k${n}=v`).join(',')],
    ['nothing', ''],
  ])('drops a malformed state but keeps the trace: %s', (_what, given) => {
    expect(readTraceContext(PARENT, given)).toMatchObject({ traceId: TRACE });
    expect(carriedState(given)).toBeUndefined();
  });

  it('is parsed at once when its state is as long as a header may be', () => {
    const took = processorMs(() => {
      for (const filler of [' ', '\t', ' ,', 'a', '=']) carriedState(`a=${filler.repeat(60_000 / filler.length)}x`);
    });
    expect(took).toBeLessThan(500);
  });

  it('drops the state of a malformed trace', () => {
    expect(readTraceContext('00-no', 'a=b')).not.toHaveProperty('state');
  });

  it('has at most 512 characters of state: the last entries are dropped', () => {
    const exact = `a=${'x'.repeat(126)},b=${'x'.repeat(126)},c=${'x'.repeat(126)},d=${'x'.repeat(123)}`;
    expect(exact).toHaveLength(512);
    expect(carriedState(exact)).toBe(exact);
    expect(carriedState(`${exact}x`)).toBe(exact.slice(0, exact.lastIndexOf(',')));
    const many = Array.from({ length: 32 }, (_, n) => `k${n}=${'v'.repeat(20)}`);
    const carried = carriedState(many.join(',')) ?? '';
    expect(carried.length).toBeLessThanOrEqual(512);
    expect(many.join(',').startsWith(`${carried},`)).toBe(true);
  });
});

it.each([
  ['https://a.example', 'https://a.example/feed', true],
  ['https://a.example/ori', 'https://a.example/ori', true],
  ['https://a.example/ori/', 'https://a.example/ori/v1/feed', true],
  ['https://a.example/ori', 'https://a.example/original', false],
  ['https://a.example/ori', 'https://a.example/', false],
  ['https://a.example', 'http://a.example/', false],
  ['https://a.example', 'https://a.example:8443/', false],
  ['https://a.example', 'https://b.example/', false],
  ['https://a.example', 'https://a.example.b.example/', false],
])('with %s listed, a call to %s carries it: %s', (listed, address, carried) => {
  expect(carriesTrace(address, ['https://other.example', listed])).toBe(carried);
});
