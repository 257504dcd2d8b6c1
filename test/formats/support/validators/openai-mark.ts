import * as v from 'valibot'

/** The mark of caching that parts of content may have in both formats of OpenAI. */
export const mark = {
  prompt_cache_breakpoint: v.exactOptional(
    v.strictObject({ mode: v.literal('explicit'), ttl: v.exactOptional(v.picklist(['30m', '12h'])) }),
  ),
}
