/** A token count as providers send it: absent, null or nonsense counts as nothing. */
export const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0)
