/** Does the request not fit into the model's context window? Few vendors have a code for it. */
export function saysOverflow(message: string, code?: string): boolean {
  return (code !== undefined && OVERFLOW_CODE.test(code)) || OVERFLOW.some((words) => words.test(message))
}

const OVERFLOW_CODE =
  /^(?:context_(?:length|window)_exceeded|exceed_context_size_error|too_many_(?:prompt_)?tokens|model_max_prompt_tokens_exceeded|tokens_limit_reached)$/i

const OVERFLOW: readonly RegExp[] = [
  /context_length_exceeded|too_many_(?:prompt_)?tokens/i,
  /max(?:imum)? (?:context|prompt|model|input) (?:length|window)/i,
  /exceed(?:s|ed)? (?:the |this |your )?(?:model(?:'s)? )?(?:available |max(?:imum)? )?context/i,
  /context (?:window|length|size|limit) (?:has been )?exceed|exceeded model token limit/i,
  /(?:greater|longer|more) than the (?:model's |maximum )?(?:context|model) length/i,
  /context length (?:is|of) only|context the overflows/i, // LM Studio, vLLM
  /(?:prompt|input) (?:is )?too long|prompt exceeds max length|total length of all messages is too long/i,
  /input tokens exceeded|(?:input|prompt) token count[^"]{0,40} exceeds|too many (?:input tokens|tokens:)/i,
  /reduce the length of the (?:messages|input|prompt)/i,
  /`inputs` (?:tokens|must have)|range of input length should be/i, // Together and its engine, Alibaba
]

/** Has the account run out of money or quota, so that waiting a little does not help? */
export const saysNoFunds = (message: string, code?: string): boolean =>
  code === 'insufficient_quota' ||
  /insufficient_quota|exceeded your current quota|credit balance|spend(?:ing)? limit/i.test(message)

/** Is the key no good? Google and xAI say so with a 400. What a request may hold is not enough: it would cost the connection. */
export const saysBadKey = (message: string, codes: readonly string[] = []): boolean =>
  codes.includes('API_KEY_INVALID') || /^(?:API key (?:not valid|expired)|Incorrect API key provided)\b/.test(message)
