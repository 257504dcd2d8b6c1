import * as v from 'valibot'

/** The cache breakpoint that content parts may have in both OpenAI formats. */
export const mark = {
  prompt_cache_breakpoint: v.exactOptional(
    v.strictObject({ mode: v.literal('explicit'), ttl: v.exactOptional(v.picklist(['30m', '12h'])) }),
  ),
}
