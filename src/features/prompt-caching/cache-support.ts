import type { RouteTarget } from '../../request/routing/group.ts'

/** How a target caches prompts, and how the gateway asks for it. */
export interface CacheSupport {
  /** Where marks can be placed; absent if the target doesn't support marks. */
  marks?: MarkPlaces
  /** Whether requests may have `prompt_cache_key`. */
  takesKey?: true
  /** The header that keeps a session on one server. */
  sessionHeader?: string
  /** Prompts with fewer tokens are never cached. */
  minTokens: number
  /** How long a cached prompt lasts by default. */
  ttlMs: number
}

/** The form of marks, and the places that can have one. */
export interface MarkPlaces {
  form: 'messages' | 'converse' | 'chat' | 'breakpoint'
  tools: boolean
  /** Whether a mark on the whole request is accepted, which follows the end of the conversation. */
  top: boolean
  /** Whether the conversation can have marks. If not, the provider marks its end on its own. */
  conversation: boolean
}

const MINUTE = 60_000

const blocks = { tools: true, top: false, conversation: true } as const

interface SupportRule {
  formats: RegExp
  providers?: RegExp
  models?: RegExp
  support: Partial<CacheSupport>
}

/*
 * All matching rules apply. Sources: the providers' pages on prompt caching, November 2026. Gemini, DeepSeek, Moonshot, Groq, and local servers cache
 * on their own and need no field; a session that stays with its account is enough.
 */
const rules: readonly SupportRule[] = [
  { formats: /^anthropic-messages$/, models: /claude-/, support: { marks: { form: 'messages', ...blocks } } },
  {
    formats: /^anthropic-messages$/,
    providers: /^anthropic$/,
    models: /claude-/,
    support: { marks: { form: 'messages', ...blocks, top: true } },
  },
  { formats: /^bedrock-converse$/, models: /claude-/, support: { marks: { form: 'converse', ...blocks } } },
  {
    formats: /^bedrock-converse$/,
    models: /nova-/,
    support: { marks: { form: 'converse', ...blocks, tools: false } },
  },
  { formats: /./, models: /claude-(?:[a-z]+-5|[a-z]+-[6-9])/, support: { minTokens: 512 } },
  {
    formats: /^openai-chat$/,
    providers: /^openrouter$/,
    models: /claude-|gemini-|qwen/,
    support: { marks: { form: 'chat', ...blocks, tools: false }, sessionHeader: 'x-session-id' },
  },
  { formats: /^openai-/, providers: /^openai$/, support: { takesKey: true } },
  {
    formats: /^openai-/,
    providers: /^openai$/,
    models: /^(?!o\d|gpt-[34]|chatgpt|gpt-5(?!\.[6-9]))/,
    support: { marks: { form: 'breakpoint', tools: false, top: false, conversation: false }, ttlMs: 30 * MINUTE },
  },
  { formats: /^openai-/, providers: /^azure$/, models: /^(?:gpt-\d|o\d|codex)/, support: { takesKey: true } },
  { formats: /^openai-chat$/, providers: /^mistral$/, support: { takesKey: true } },
  { formats: /^openai-responses$/, providers: /^xai$/, support: { takesKey: true } },
  { formats: /^openai-chat$/, providers: /^xai$/, support: { sessionHeader: 'x-grok-conv-id' } },
  { formats: /^openai-chat$/, providers: /^fireworks$/, support: { sessionHeader: 'x-session-affinity' } },
]

/** Returns how a target caches prompts. */
export function getCacheSupport({ format, provider, model }: Pick<RouteTarget, 'format' | 'provider' | 'model'>) {
  const support: CacheSupport = { minTokens: 1_024, ttlMs: 5 * MINUTE }
  const name = model.toLowerCase()
  for (const rule of rules) {
    const { formats, providers, models } = rule
    if (formats.test(format) && providers?.test(provider) !== false && models?.test(name) !== false)
      Object.assign(support, rule.support)
  }
  return support
}
