/** A person's identity as one text: two identities never give the same, whatever is written in them. */
export function personText({ soortObjectId, objectId }: { soortObjectId: string; objectId: string }): string {
  // A kind is never empty, so nothing else begins with a line break.
  return soortObjectId.includes('\n')
    ? `\n${JSON.stringify([soortObjectId, objectId])}`
    : `${soortObjectId}\n${objectId}`;
}
