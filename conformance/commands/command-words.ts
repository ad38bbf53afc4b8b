import { InvalidArgumentError } from 'commander';
import { wordsOf } from '../protocol.ts';

/** A command given as an option: its text, which `wordsOf` splits into words. */
export function commandText(text: string): string {
  try {
    wordsOf(text);
    return text;
  } catch (error) {
    throw new InvalidArgumentError(error instanceof TypeError ? error.message : 'a command');
  }
}
