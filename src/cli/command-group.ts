import type { Command } from 'commander';

/** The group of commands with this name, for an extension that adds one. @throws {TypeError} when no group has it */
export function commandGroup(program: Command, name: string): Command {
  const group = program.commands.find((command) => command.name() === name);
  if (group === undefined) throw new TypeError(`there are no commands ${name}`);
  return group;
}
