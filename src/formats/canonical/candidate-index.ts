/** No client asks for more candidates. */
const MAX_CANDIDATES = 128

/** The number of a candidate as a provider sends it: a whole number below 128; anything else counts as 0. */
export const candidateIndex = (index: unknown): number =>
  typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < MAX_CANDIDATES ? index : 0
