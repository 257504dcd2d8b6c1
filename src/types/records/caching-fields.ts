import { choice, type Shape } from './shapes.ts'

/** The lifetime of the gateway's cache breakpoints for tools and instructions. Breakpoints in the conversation always last 5 minutes. */
export type PromptCacheTtl = '5m' | '1h'

/** Whether the gateway asks providers to cache prompts (docs/src/content/docs/guides/prompt-caching.md). Default: `off`. */
export type PromptCaching = 'off' | 'auto' | { mode: 'auto'; ttl?: PromptCacheTtl }

/** The shape of the field in settings, connections, combo entries, and keys. */
export const promptCaching: Shape<PromptCaching> = choice(['off', 'auto'], {
  orObject: {
    type: 'object',
    fields: { mode: { shape: choice(['auto']) }, ttl: { shape: choice(['5m', '1h']), isOptional: true } },
  },
}) as Shape<PromptCaching> // the type of a choice only contains its strings

/** The field of settings, connections, and keys. `null` removes it. */
export const cachingField = { shape: promptCaching, isOptional: true, isSynced: false } as const
