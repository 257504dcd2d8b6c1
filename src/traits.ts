/** How much a model reasons before it answers, from not at all to the most it can. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** The options of a request: everything besides its conversation and its tools, by the names of the canonical form. */
export type OptionName =
  | 'cacheKey'
  | 'cacheOptions'
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

/** What a conversation may contain besides text. */
export type InputKind = MediaKind | AddressKind | 'search-result'

export type MediaKind = 'image' | 'file' | 'audio' | 'video'

/** The provider fetches the address itself. `youtube`: it reads videos there. */
export type AddressKind = `${MediaKind}-url` | 'youtube'

/** The form of the names or ids that a provider accepts. */
export interface Alphabet {
  /** The allowed characters, as the inside of a character class: `A-Za-z0-9_-`. */
  characters: string
  /** The allowed first characters, where they are fewer. */
  first?: string
  maxLength: number
  /** Is the length always exactly `maxLength`? */
  isExact?: boolean
}

/** How a provider is asked to reason, and what it does with its reasoning. */
export interface ReasoningTraits {
  /**
   * The form of the setting in a request: an effort, a token budget, Anthropic's adaptive style, Google's levels, or a vendor's own field.
   * `none`: it cannot be set.
   */
  by: 'none' | 'effort' | 'budget' | 'adaptive' | 'level' | VendorSwitch
  /** The efforts it accepts, lowest first; any other is replaced by the nearest, the lower of two. */
  efforts: readonly Effort[]
  /** The token budget that stands for each effort; in reverse, a budget stands for the nearest effort. */
  budgets: Readonly<Record<Effort, number>>
  minBudget: number
  maxBudget: number
  /** The field of Chat Completions that carries its reasoning. */
  field: 'reasoning_content' | 'reasoning' | 'reasoning_details' | 'thinking-parts'
  /** Which of its own reasoning a request must send back to it. */
  replay: 'never' | 'tool-loop' | 'always'
  /** Must each assistant turn have that field, empty when there is no reasoning? */
  needsField: boolean
  /** Is reasoning refused when the turns before it have changed? */
  bindsReasoning: boolean
  /** Is a forced tool call refused while it reasons? */
  refusesForcedTool: boolean
  /** Are the client's tools refused while it reasons? */
  refusesTools: boolean
  /** Options that are refused while it reasons. */
  excludes: readonly OptionName[]
  /** Does it reason by default? */
  isDefault: boolean
  /** The value that disables the reasoning of a model of Anthropic. */
  off: 'disabled' | 'between_tools'
}

/**
 * `thinking: {type}` (Z.ai), the same with an effort beside it (DeepSeek), `enable_thinking` (Qwen), `reasoning: {effort}` (OpenRouter),
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
 * What distinguishes one provider or model from others of its wire format, as data, so that no translator asks for names. Each format has
 * its defaults (`Translator.traits`); the entry of a vendor or a model replaces single fields of them.
 */
export interface Traits {
  /** Options of the format that this provider refuses. */
  lacks: readonly OptionName[]
  inputs: readonly InputKind[]
  /** May a file be plain text, have a title and a context, and be cited? */
  documents: boolean
  /** May assistant turns hold images that the model has generated? Otherwise they move to user turns. */
  assistantImages: boolean
  /** Are the first part and the images of an assistant turn refused unless they are signed? */
  signsAnswers: boolean
  /** What the result of a tool may contain besides text. */
  toolResultInputs: readonly InputKind[]
  maxTemperature: number
  maxStopSequences: number
  /** The output limit in tokens: the most that is asked for, and the value where the format requires one and the client gave none. */
  maxOutputTokens: number | undefined
  minOutputTokens: number
  outputLimitField: 'max_completion_tokens' | 'max_tokens'
  /** The place of `topK` in Converse's additional fields for the model. */
  topKField: 'top_k' | 'inferenceConfig'
  /** JSON pointers to the additional fields of Converse that hold the stop sequence that matched. */
  stopFields: readonly string[]
  /** Is the role `developer` accepted? Otherwise it becomes `system`. */
  developerRole: boolean
  /** Are system messages accepted after the first turn? `before-answer`: only between a user's turn and the answer to it. */
  lateSystem: boolean | 'before-answer'
  /** Are empty texts of the user accepted? `blanks`: only when they contain white space. */
  emptyText: 'taken' | 'blanks' | 'refused'
  /** May the last turn be the assistant's, for the model to continue? */
  prefill: boolean
  toolIds: Alphabet
  /** May text of the model be between a call and its result? Otherwise it goes before the call. For formats without turns only. */
  textAfterCalls: boolean
  /** Are call ids accepted in a history? Otherwise calls and results are matched by name and order. */
  callIds: boolean
  toolNames: Alphabet
  /** Are tools with free-text input accepted? */
  freeFormTools: boolean
  /** Are the tools accepted that the format's vendor defines and clients run, such as a shell? Otherwise they become functions. */
  ownTools: boolean
  /** May the schema of a tool's input be a union or a reference at its root, without properties of its own? */
  unionTools: boolean
  /** Are functions accepted beside a search? */
  searchBesideTools: boolean
  /** Are functions beside a search refused unless the provider may report its searches? */
  reportsSearches: boolean
  /** May the schema of an answer be of a list or a plain value, rather than of an object? */
  plainOutput: boolean
  /** Is an answer held to its schema only where the request asks for the strict mode of OpenAI? */
  strictOutput: boolean
  /** Is `strict` accepted on tools? */
  strictTools: boolean
  /** The accepted kinds of tool choice; any other is narrowed or refused. */
  toolChoices: readonly ('none' | 'required' | 'tool' | 'allowed' | 'search')[]
  /** Is a history with tool calls refused unless tools are declared? */
  declaresTools: boolean
  webSearch: boolean
  /** Are conversations compacted when a request asks for it by `context_management` or a `compaction_trigger`? */
  compacts: boolean
  /** The dialect of schemas. `openapi`: Google's older subset, which refuses unknown keywords. */
  schema: 'json-schema' | 'openapi'
  outputFormats: readonly ('json' | 'json-schema')[]
  /** Is the output format `json` refused unless the conversation contains the word JSON? */
  jsonNeedsWord: boolean
  reasoning: ReasoningTraits
  /** The form of marks for explicit caching, and how many are accepted. */
  cacheMarks: 'none' | 'cache_control' | 'prompt_cache_breakpoint'
  maxCacheMarks: number
  /** Are the tokens of a stream reported when `stream_options` asks for them? */
  streamUsage: boolean
}
