export const variables = async (): Promise<Record<string, string>> => ({ RAADSFEED_DIWOO: 'true' });
