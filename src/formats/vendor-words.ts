/** Does the request not fit into the model's context window? Few vendors have a code for it. */
export function saysOverflow(message: string, code?: string): boolean {
  return OVERFLOW.test(message) || (code !== undefined && OVERFLOW.test(code))
}

const OVERFLOW =
  /context_length_exceeded|maximum context length|prompt (?:is )?too long|too_many_(?:prompt_)?tokens|input tokens exceeded|input token count[^"]{0,40} exceeds the maximum|exceeds? the (?:model's )?(?:available )?context (?:window|length|size)/i

/** Has the account run out of money or quota, so that waiting a little does not help? */
export const saysNoFunds = (message: string, code?: string): boolean =>
  code === 'insufficient_quota' ||
  /insufficient_quota|exceeded your current quota|credit balance|spend(?:ing)? limit/i.test(message)

/** Is the key no good? Google says so with a 400. */
export const saysBadKey = (text: string): boolean => /API_KEY_INVALID|API key not valid/.test(text)
