/** A provider's token count; 0 for what is absent, null or no positive number. */
export const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0)
