import { expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/settings/read-config.ts';

const reading = (url: string) => () => readConfig({ DATABASE_URL: url }, 'tool');

it.each([
  'postgres://u:p@a:5432/db?sslmode=disable',
  'postgresql://[::1]:1/db',
  'postgres:///db?host=/run/a&user=u',
  'postgres://u@a/db?options=-c%20x%3D1',
])('%s is a database address', (url) => {
  expect(reading(url)().database.url).toBe(url);
});

it.each([
  ['postgres://u:geheim@a:5432,b:5433/db', /DATABASE_URL names several hosts/],
  ['postgres:///db?host=/run/a,/run/b', /DATABASE_URL names several hosts/],
  ['postgres://u:geheim@a/db?target_session_attrs=read-write', /DATABASE_URL names several hosts/],
  ['mysql://a/db', /DATABASE_URL is not an address/],
  ['postgres://a:x/db', /DATABASE_URL is not an address/],
  ['h1,h2', /DATABASE_URL is not an address/],
])('%s is refused, without repeating it', (url, words) => {
  expect(reading(url)).toThrow(ConfigError);
  expect(reading(url)).toThrow(words);
  expect(reading(url)).not.toThrow(/geheim/);
});
