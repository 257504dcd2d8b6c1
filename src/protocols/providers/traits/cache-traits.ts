import type { ProviderFormat } from '../../../types.ts'

/** How a target caches prompts, and how the gateway requests caching. */
export interface CacheTraits {
  /** Where cache breakpoints can be. Absent if the target doesn't support them. */
  breakpoints?: BreakpointTraits
  /** Whether requests may contain `prompt_cache_key`. */
  acceptsKey?: true
  /** The header that keeps a session on one server. */
  sessionHeader?: string
  /** Minimum tokens of a prompt that can be cached. */
  minTokens: number
  /** How long a cached prompt lasts by default, in ms. */
  ttlMs: number
}

/** The form of breakpoints, and the places that can have one. */
export interface BreakpointTraits {
  form: 'messages' | 'converse' | 'chat' | 'breakpoint'
  tools: boolean
  /** Whether the entire request can have a breakpoint, which follows the end of the conversation. */
  topLevel: boolean
  /** Whether the conversation can have breakpoints. If not, the provider automatically caches up to its end. */
  conversation: boolean
  /** Whether a breakpoint can last one hour. */
  oneHourTtl: boolean
}

const MINUTE_MS = 60_000

const defaultBreakpoints = { tools: true, topLevel: false, conversation: true, oneHourTtl: true } as const

/** A difference and its target conditions. An absent condition matches all targets. */
interface CacheDifference {
  formats: RegExp
  providers?: RegExp
  /** Matches model names in lowercase, with host prefixes. */
  models?: RegExp
  traits: Partial<CacheTraits>
}

/*
 * All matching rows apply. Sources: the providers' pages on prompt caching, November 2026. Gemini, DeepSeek, Moonshot, Groq, and local servers cache
 * automatically and need no field; keeping a session on one account is enough. Qwen, MiniMax, and Z.ai also document breakpoints, but no recorded
 * call confirms yet that theirs work like Claude's.
 */
const differences: readonly CacheDifference[] = [
  {
    formats: /^anthropic-messages$/,
    models: /claude-/,
    traits: { breakpoints: { form: 'messages', ...defaultBreakpoints } },
  },
  {
    formats: /^anthropic-messages$/,
    providers: /^anthropic$/,
    models: /claude-/,
    traits: { breakpoints: { form: 'messages', ...defaultBreakpoints, topLevel: true } },
  },
  {
    formats: /^bedrock-converse$/,
    models: /claude-/,
    traits: { breakpoints: { form: 'converse', ...defaultBreakpoints } },
  },
  {
    formats: /^bedrock-converse$/,
    models: /claude-(?:\d|(?:opus|sonnet)-4-(?:1-)?\d{8})/, // models before Claude 4.5
    traits: { breakpoints: { form: 'converse', ...defaultBreakpoints, oneHourTtl: false } },
  },
  {
    formats: /^bedrock-converse$/,
    models: /nova-/,
    traits: { breakpoints: { form: 'converse', ...defaultBreakpoints, tools: false, oneHourTtl: false } },
  },
  { formats: /./, models: /claude-(?:[a-z]+-5|[a-z]+-[6-9])/, traits: { minTokens: 512 } },
  {
    formats: /^openai-chat$/,
    providers: /^openrouter$/,
    models: /claude-|gemini-|qwen/,
    traits: { breakpoints: { form: 'chat', ...defaultBreakpoints, tools: false }, sessionHeader: 'x-session-id' },
  },
  { formats: /^openai-/, providers: /^openai$/, traits: { acceptsKey: true } },
  {
    formats: /^openai-/,
    providers: /^openai$/,
    models: /^(?!o\d|gpt-[34]|chatgpt|gpt-5(?!\.[6-9]))/,
    traits: {
      breakpoints: { form: 'breakpoint', tools: false, topLevel: false, conversation: false, oneHourTtl: false },
      ttlMs: 30 * MINUTE_MS,
    },
  },
  { formats: /^openai-/, providers: /^azure$/, models: /^(?:gpt-\d|o\d|codex)/, traits: { acceptsKey: true } },
  { formats: /^openai-chat$/, providers: /^mistral$/, traits: { acceptsKey: true } },
  { formats: /^openai-responses$/, providers: /^xai$/, traits: { acceptsKey: true } },
  { formats: /^openai-chat$/, providers: /^xai$/, traits: { sessionHeader: 'x-grok-conv-id' } },
  { formats: /^openai-chat$/, providers: /^fireworks$/, traits: { sessionHeader: 'x-session-affinity' } },
]

/** Returns how a target caches prompts. Unlike other traits, these don't depend on a translator, which passed-through requests don't load. */
export function getCacheTraits(target: { provider: string; model: string; format: ProviderFormat }): CacheTraits {
  const traits: CacheTraits = { minTokens: 1_024, ttlMs: 5 * MINUTE_MS }
  const model = target.model.toLowerCase()
  for (const { formats, providers, models, traits: difference } of differences)
    if (formats.test(target.format) && providers?.test(target.provider) !== false && models?.test(model) !== false)
      Object.assign(traits, difference)
  return traits
}
