import { InvalidArgumentError } from 'commander';
import { wordsOf } from '../protocol.ts';

/** The words of a command, as an option. */
export function commandWords(text: string): readonly string[] {
  try {
    return wordsOf(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof TypeError ? error.message : 'a command');
  }
}
