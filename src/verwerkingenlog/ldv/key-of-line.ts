import type { KeyOfLine } from '../domain/line-key.ts';
import { lineKeyOf } from './store/line-keys.ts';
import { readLine } from './stored-line.ts';

export const keyOfLine: KeyOfLine = (line, hash) => lineKeyOf(readLine(line), hash);
