/** Reasoning effort, from none to the maximum. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** A request's options, by canonical name: everything except the conversation and tools. */
export type OptionName =
  | 'cacheKey'
  | 'cacheOptions'
  | 'cacheRetention'
  | 'candidates'
  | 'endUser'
  | 'frequencyPenalty'
  | 'labels'
  | 'logitBias'
  | 'logprobs'
  | 'maxOutputTokens'
  | 'modalities'
  | 'moderation'
  | 'parallelToolCalls'
  | 'prediction'
  | 'presencePenalty'
  | 'reasoning'
  | 'seed'
  | 'serviceTier'
  | 'speech'
  | 'stop'
  | 'store'
  | 'temperature'
  | 'topK'
  | 'topP'
  | 'verbosity'

/** The content that a conversation may contain in addition to text. */
export type InputKind = MediaKind | AddressKind | 'search-result'

export type MediaKind = 'image' | 'file' | 'audio' | 'video'

/** Media that the provider fetches from a URL. `youtube` means YouTube videos. */
export type AddressKind = `${MediaKind}-url` | 'youtube'

/** The names or IDs that a provider accepts. */
export interface Alphabet {
  /** Allowed characters, as the inside of a character class: `A-Za-z0-9_-`. */
  characters: string
  /** Allowed first characters, if they are more restricted. */
  first?: string
  maxLength: number
  /** Whether the length is always exactly `maxLength`. */
  isExact?: boolean
}

/** How to request reasoning from a provider, and how the provider handles it. */
export interface ReasoningTraits {
  /**
   * How a request sets reasoning: with an effort, a token budget, Anthropic's adaptive style, Google's levels, or a vendor's own field. `none`: it
   * can't be set.
   */
  control: 'none' | 'effort' | 'budget' | 'adaptive' | 'level' | VendorSwitch
  /** Accepted efforts, lowest first. Others become the nearest one, or the lower of two equally near ones. */
  efforts: readonly Effort[]
  /** The token budget for each effort; in reverse, a budget becomes the nearest effort. */
  budgets: Readonly<Record<Effort, number>>
  minBudget: number
  maxBudget: number
  /** The Chat Completions field that contains the reasoning. */
  field: 'reasoning_content' | 'reasoning' | 'reasoning_details' | 'thinking-parts'
  /** Which of the provider's own reasoning a request must send back. */
  replay: 'never' | 'tool-loop' | 'always'
  /** Whether each assistant turn must have `field`, even if there is no reasoning. */
  needsField: boolean
  /** Whether replayed reasoning is rejected if earlier turns have changed. */
  bindsReasoning: boolean
  /** Whether a forced tool call is rejected during reasoning. */
  rejectsForcedTool: boolean
  /** Whether the client's tools are rejected during reasoning. */
  rejectsTools: boolean
  /** Options that are rejected during reasoning. */
  excludes: readonly OptionName[]
  /** Whether the model reasons by default. */
  isDefault: boolean
  /** The value that disables reasoning for an Anthropic model. */
  disabledType: 'disabled' | 'between_tools'
}

/**
 * `thinking: {type}` (Z.ai), the same with an effort (DeepSeek), `enable_thinking` (Qwen), `reasoning: {effort}` (OpenRouter),
 * `chat_template_kwargs` (vLLM), `reasoning_config` (Qwen on Bedrock).
 */
export type VendorSwitch =
  | 'thinking'
  | 'thinking-effort'
  | 'enable_thinking'
  | 'reasoning-object'
  | 'chat-template'
  | 'reasoning_config'

/**
 * How a provider or model differs from others with the same wire format, as data, so translators never check for names. Each format has defaults
 * (`Translator.traits`); a vendor's or model's entry overrides individual fields.
 */
export interface Traits {
  /** Options of the format that this provider rejects. */
  lacks: readonly OptionName[]
  inputs: readonly InputKind[]
  /** Whether a file may be plain text, have a title and a context, and be cited. */
  documents: boolean
  /** Whether assistant turns may contain generated images. Otherwise they move to user turns. */
  assistantImages: boolean
  /** Whether the first part and the images of an assistant turn are rejected without a signature. */
  signsResponses: boolean
  /** The content that a tool result may contain in addition to text. */
  toolResultInputs: readonly InputKind[]
  maxTemperature: number
  maxStopSequences: number
  /**
   * The output limit in tokens: the highest value to request, and the value to send if the format requires one and the client omitted it.
   */
  maxOutputTokens: number | undefined
  minOutputTokens: number
  outputLimitField: 'max_completion_tokens' | 'max_tokens'
  /** The location of `topK` in Converse's additional model fields. */
  topKField: 'top_k' | 'inferenceConfig'
  /** JSON pointers to the additional Converse fields that contain the matched stop sequence. */
  stopFields: readonly string[]
  /** Whether the role `developer` is accepted. Otherwise, it becomes `system`. */
  developerRole: boolean
  /** Whether system messages are accepted after the first turn. With `before-answer`, only between a user turn and its response. */
  lateSystem: boolean | 'before-answer'
  /** Whether empty user text is accepted. With `blanks`, only if it contains whitespace. */
  emptyText: 'taken' | 'blanks' | 'refused'
  /** Whether the last turn may be the assistant's, for the model to continue. */
  prefill: boolean
  toolIds: Alphabet
  /** Whether model text may come between a tool call and its result. Otherwise, the text moves before the call. Only for formats without turns. */
  textAfterCalls: boolean
  /** Whether a history may contain call IDs. Otherwise calls and results are matched by name and order. */
  callIds: boolean
  toolNames: Alphabet
  /** Whether tools with free-text input are accepted. */
  freeFormTools: boolean
  /** Whether tools that the format's vendor defines and clients run, such as a shell, are accepted. Otherwise they become functions. */
  ownTools: boolean
  /** Whether a tool's input schema may have a union or a reference at its root, without properties. */
  unionTools: boolean
  /** Whether functions and web search are accepted together. */
  searchWithTools: boolean
  /** Whether a request with both functions and web search is rejected unless it lets the provider report its searches. */
  reportsSearches: boolean
  /** Whether a response schema may describe an array or a scalar instead of an object. */
  plainOutput: boolean
  /** Whether a response follows its schema only in OpenAI's strict mode. */
  strictOutput: boolean
  /** Whether `strict` is accepted on tools. */
  strictTools: boolean
  /** The accepted kinds of tool choice; others are narrowed or rejected. */
  toolChoices: readonly ('none' | 'required' | 'tool' | 'allowed' | 'search')[]
  /** Whether a history with tool calls requires tool declarations. */
  declaresTools: boolean
  webSearch: boolean
  /** Whether the provider compacts conversations on request (`context_management` or `compaction_trigger`). */
  supportsCompaction: boolean
  /** The schema dialect. `openapi`: Google's older subset, which rejects unknown keywords. */
  schema: 'json-schema' | 'openapi'
  outputFormats: readonly ('json' | 'json-schema')[]
  /** Whether the output format `json` is rejected unless the conversation contains the word JSON. */
  jsonNeedsWord: boolean
  reasoning: ReasoningTraits
  /** How targets accept explicit cache breakpoints, and how many are accepted. */
  cacheBreakpoints: 'none' | 'cache_control' | 'prompt_cache_breakpoint'
  maxCacheBreakpoints: number
  /** The longest supported lifetime of a breakpoint. */
  maxCacheTtl: '5m' | '1h'
  /** Items that can't have a breakpoint although others can; a breakpoint on part of a result moves to the entire result. */
  uncacheable: readonly ('tools' | 'assistant' | 'result-parts')[]
  /** Whether a stream reports its token usage if `stream_options` requests it. */
  streamUsage: boolean
}
