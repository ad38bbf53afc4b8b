import type { Command } from 'commander';

export interface TokenOptions {
  readonly tokenFile?: string;
  readonly tokenUrl?: string;
  readonly clientId?: string;
  readonly clientSecretFile?: string;
  readonly fsc?: boolean;
}

export function tokenOptions(command: Command): Command {
  return command
    .option('--token-file <file>', 'file with an access token')
    .option('--token-url <url>', 'token endpoint, for client credentials')
    .option('--client-id <id>', 'client at the token endpoint')
    .option('--client-secret-file <file>', 'file with its secret')
    .option('--fsc', 'send the token as `Fsc-Authorization`');
}

export function hasToken({ tokenFile, tokenUrl }: TokenOptions): boolean {
  return tokenFile !== undefined || tokenUrl !== undefined;
}
