import { eventLoopBudget } from '../../kernel/scheduling.ts';
import type { SignatureStyle } from '../jades/protected-header.ts';
import type { Signer } from '../jades/sign.ts';
import type { PageBytes } from './piece-writer.ts';

/** Signs an answer. In the digest form its size does not matter; in the body form it is fed piece by piece. */
export async function signPage(signer: Signer, page: PageBytes, style: SignatureStyle): Promise<string> {
  if (style.form === 'digest') return await signer.signDigest(page.digest, style);
  const signing = signer.begin(style);
  for (const piece of page.pieces) {
    signing.update(piece);
    await eventLoopBudget.yield();
  }
  return (await signing.finish()).signature;
}
