import { InvalidArgumentError } from 'commander';
import { wordsOf } from '../protocol.ts';

/** A command, as an option: its text, of which `wordsOf` gives the words. */
export function commandText(text: string): string {
  try {
    wordsOf(text);
    return text;
  } catch (error) {
    throw new InvalidArgumentError(error instanceof TypeError ? error.message : 'a command');
  }
}
