import type { ProviderError } from './read-error.ts'

/** Returns whether the provider doesn't have the model, or doesn't offer it to the account. Other models aren't affected. */
export const isUnknownModel = ({ text, codes }: ProviderError): boolean =>
  codes.some((code) => NO_MODEL_CODE.test(code)) ||
  (codes.includes('not_found_error') && text.startsWith('model: ')) || // Anthropic; missing files have the same type
  NO_MODEL_PATTERNS.some((pattern) => pattern.test(text))

const NO_MODEL_CODE =
  /^(?:(?:key_|team_|user_|org_)?model_(?:not_?(?:found|available|exist|supported)|access_denied|decommissioned|deprecated|permission_blocked\w*|terms_required)|(?:invalid|unknown|unavailable)_model|(?:Deployment|Model)NotFound|Model\.AccessDenied|dedicated_endpoint_not_running)$/i

/** Messages about a missing model. Its name must be a single word, so that no sentence about something else matches. */
const NO_MODEL_PATTERNS: readonly RegExp[] = [
  /^(?:the |this |requested |publisher )*model(?: id| name)?:? *(?:(?:`[^`]*`|\S+) *)?(?:does )?not (?:exist|found)\b/i,
  /^(?:the |this |requested |publisher )*model *(?:(?:`[^`]*`|\S+) *)?(?:was not found|is not (?:found|available|supported)(?:\.|,|$| by provider )|has been (?:deprecated|decommissioned|retired|removed)|is no longer (?:available|supported))/i,
  /^(?:invalid params, )?(?:invalid|unknown|unavailable|not found the|unable to access(?: non-serverless)?) model\b/i,
  /^models\/\S+ is (?:not found|no longer available)/, // Google
  /^No endpoints found for \S|^\S+ is not a valid model ID/, // OpenRouter; similar messages about unsupported features are about the request
  /^The API deployment for this resource does not exist/, // Azure
  /provided model identifier|model version has reached the end of its life|marked by provider as Legacy|model ID \S+ with on-demand throughput/, // Bedrock
  /^No models? loaded|^Function \S+: Not found for account/, // LM Studio, NVIDIA
]

/**
 * Returns whether the URL wasn't found, as opposed to something in the request. Such an error is a web page, or contains neither a code nor a field.
 */
export const isUnknownPath = (error: ProviderError): boolean => error.param === undefined && isNotFound(error)

/** Returns whether the error only reports that the `model` field wasn't found. */
export const isUnknownModelField = (error: ProviderError): boolean => error.param === 'model' && isNotFound(error)

const isNotFound = ({ text, codes }: ProviderError) => (text === '' && codes.length === 0) || NO_PATH_PATTERN.test(text)

const NO_PATH_PATTERN =
  /^\s*<|^(?:404:? )?(?:(?:page|resource|route|path|url) )?not found\.?\s*$|^Invalid URL \((?:GET|POST) |^no Route matched with those values/i // the last two: OpenAI, Kong

/** Returns whether the provider or its model doesn't support compaction. */
export const isCompactionRejected = ({ text }: ProviderError): boolean =>
  /\bcompact/i.test(text) && /not (?:support|available|enabled|implement|allow)|n't support|unsupported/i.test(text)

/** Returns whether the error is about a model that the account may not use, rather than about the key. */
export const isModelDenied = (error: ProviderError): boolean =>
  isUnknownModel(error) || MODEL_DENIED_PATTERN.test(error.text)

const MODEL_DENIED_PATTERN =
  /(?:access(?: to)?|use|sample from|invoke) (?:the |this |that |requested )*model\b|\bmodel\b[^.]{0,80} (?:is )?(?:not (?:allowed|enabled|permitted|authorized)|blocked)|model access (?:is )?denied|:(?:foundation-model|inference-profile)\//i

/** Returns whether the request was rejected for its content, although the status suggests an account problem. */
export const isContentRejected = ({ text, codes }: ProviderError): boolean =>
  codes.some((code) => REJECTED_CODE.test(code)) ||
  /^Content violates usage guidelines|requires moderation\b.{0,40} flagged|^You do not have permission to access the (?:File|CachedContent)|^CachedContent not found/.test(
    text,
  )

const REJECTED_CODE =
  /^(?:content_filter(?:ed)?|flagged_input|moderation_blocked|data_?inspection_?failed|ResponsibleAIPolicyViolation|\w+_policy_violation)$/i

/** Returns whether a 403's codes or text are about the key, its permissions, or its account. */
export const isKeyRejected = (error: ProviderError): boolean =>
  error.codes.some((code) => KEY_REJECTED_CODE.test(code)) ||
  (!isPromptRejected(error) && KEY_REJECTED_PATTERN.test(error.text))

const KEY_REJECTED_CODE =
  /auth|permission|access|\bkey|_key|account|billing|credit|insufficient|organi[sz]ation|project|region|country|credential|signature|ExpiredToken|UnrecognizedClient|suspend|subscription|workspace|tenant/i

const KEY_REJECTED_PATTERN =
  /\bkeys?\b|credential|unauthori[sz]|authori[sz]|authenticat|permission|\baccess\b|account|organi[sz]ation|\bproject\b|\bteam\b|workspace|billing|\bcredits?\b|balance|quota|subscription|\bplan\b|countr(?:y|ies)|region|territory|security token|access token|suspended|deactivated|\bIP\b/i

/** Returns whether a 403's text is about the prompt's content. */
export const isPromptRejected = ({ text }: ProviderError): boolean =>
  PROMPT_REJECTED_PATTERN.test(text) && !ACCOUNT_PATTERN.test(text)

const PROMPT_REJECTED_PATTERN =
  /\b(?:input|prompt|content|message|messages|request|text|image|conversation)\b[^.]{0,80}\b(?:flagged|violat(?:es|ed|ing|ion)|moderation|polic(?:y|ies)|guidelines|unsafe|harmful|inappropriate|prohibited|sensitive|safety)\b|\b(?:flagged|prohibited|inappropriate|harmful|unsafe|sensitive)\b[^.]{0,80}\b(?:input|prompt|content|message|request|text|image)\b|\bsafety system\b|\busage (?:polic(?:y|ies)|guidelines)\b/i

/** Messages about an account that violated a policy, or whose own policy forbids the request. */
const ACCOUNT_PATTERN =
  /^(?:your |this |the )?(?:account|organi[sz]ation|api key|key|project|team|workspace|user)\b|organi[sz]ation'?s? polic/i

/** Returns whether this request costs more than the account may spend, although some credit is left. A shorter or cheaper request would work. */
export const isOverBudget = ({ text, codes }: ProviderError, status: number): boolean =>
  codes.includes('weight_exceeds_budget') || // OpenRouter
  TOO_EXPENSIVE_PATTERNS.some((pattern) => hasCreditLeft(pattern.exec(text))) ||
  (status === 402 && FEWER_TOKENS_PATTERN.test(text) && hasCreditLeft(REMAINING_PATTERN.exec(text) ?? []))

/** Messages about a request that costs more than the remaining credit. They capture that credit, in any unit. */
const TOO_EXPENSIVE_PATTERNS: readonly RegExp[] = [
  /^This request requires more credits, or fewer max_tokens\b(?:.{0,80}\bcan only afford (-?[\d.]+))?/, // OpenRouter
  /^(?:Prompt tokens|max_tokens) limit exceeded: \d+ > (-?\d+)\. To increase/, // OpenRouter
  /^(?:\S+ )?(?:预扣费额度失败|(?:chat )?pre-consumed? quota failed|(?:user|token) quota is not enough), ?(?:用户|令牌|user |token )(?:remain |剩余)?(?:quota|额度): *[^\d\s-]{0,3}(-?[\d.]+), ?(?:需要预扣费额度|need quota):/i, // New API
  /^user \[\d+\] quota \[(-?\d+)\] *preConsumedQuota \[\d+\] *is not enough/, // One API
  /^Insufficient (?:credits?|balance|funds) for (?:this|the) request\b(?:.{0,80}\bbalance:? *[^\d\s-]{0,3}(-?[\d.]+))?/i,
  /^(?:The )?estimated (?:request |max(?:imum)? )?cost\b.{0,60}? exceeds (?:the |your )?(?:available |remaining |current )?(?:balance|credits?)\b/i,
]

const FEWER_TOKENS_PATTERN =
  /\b(?:fewer|lower|reduce|decrease|smaller)\b.{0,30}\b(?:max_(?:completion_|output_)?tokens|maxOutputTokens|max tokens)\b/i

/** The remaining credit. */
const REMAINING_PATTERN = /\b(?:afford|balance|remaining|available)\b:? *[^\d\s-]{0,3}(-?[\d.]+)/i

/** Returns whether there is credit left. Some messages don't state how much. */
const hasCreditLeft = (match: readonly (string | undefined)[] | null): boolean =>
  match !== null && (match[1] === undefined || Number.parseFloat(match[1]) > 0)

/** Returns whether the account's other in-flight requests temporarily use up its spending limit. OpenRouter returns a 402. */
export const isBudgetInUse = ({ codes }: ProviderError): boolean => codes.includes('openrouter_in_flight_budget')

/** Returns whether the URL doesn't accept the method. If so, the request's content isn't the cause. */
export const isMethodRejected = ({ text, codes }: ProviderError): boolean =>
  codes.length === 0 || text === '' || /\bmethods?\b|not allowed to (?:GET|POST)/i.test(text)

/** Returns whether the body is a web page, which proxies send instead of an API error. */
export const isWebPage = ({ text, codes }: ProviderError): boolean => codes.length === 0 && /^\s*</.test(text)

/** Returns whether one of the account's rate limits or quotas is exceeded. Bedrock returns a 400. */
export const isServiceQuotaExceeded = ({ codes }: ProviderError): boolean =>
  codes.includes('ServiceQuotaExceededException')

/** Returns whether the model failed, which Bedrock reports with a 424. */
export const isModelFailure = ({ codes }: ProviderError): boolean => codes.includes('ModelErrorException')

/** Returns whether a limit applies to only one model, so the account can still use other models. */
export const isModelLimit = ({ text, quotaIds }: ProviderError): boolean =>
  quotaIds.some((id) => /PerModel|PerBaseModel/i.test(id)) || MODEL_LIMIT_PATTERN.test(text)

const MODEL_LIMIT_PATTERN =
  /\b(?:this|the|specific|for|and|base) (?:this )?model\b|\bmodel: ?\S|per_base_model|By ?Model|^(?:Rate limit reached|Request too large) for (?!default)\S+ in organization|^Your requests to \S+ for \S+ in |is temporarily rate-limited upstream/i

/** Returns whether the account has no credit left. If so, waiting doesn't help, regardless of the status. */
export const isOutOfCredit = ({ text, codes, isSecondHand }: ProviderError): boolean =>
  !isSecondHand && (codes.some((code) => OUT_OF_CREDIT_CODE.test(code)) || OUT_OF_CREDIT_PATTERN.test(text))

const OUT_OF_CREDIT_CODE =
  /^(?:insufficient_(?:quota|balance|credits|funds)|billing_\w+|budget_exceeded|exceeded_current_quota_error|Arrearage)$/i

const OUT_OF_CREDIT_PATTERN =
  /^Your (?:credit balance is too low|team \S+ has either used all available credits)|^You have reached your specified (?:workspace )?API usage limits|^余额不足|^Not enough credits$/ // the last two: Zhipu, Serper

/** Returns whether the account is rejected for its location or plan, or because it is suspended. Some vendors return a 400 or 412. */
export const isAccountRejected = ({ text, codes }: ProviderError): boolean =>
  codes.includes('organization_restricted') || ACCOUNT_REJECTED_PATTERN.test(text)

const ACCOUNT_REJECTED_PATTERN =
  /^User location is not supported|^Gemini API free tier is not available|^This organization has been disabled|^Account \S+ is suspended, /

/** Returns whether the request is longer than the model's context window. Few vendors have a code for that. */
export const isContextOverflow = ({ text, codes }: ProviderError): boolean =>
  codes.some((code) => OVERFLOW_CODE.test(code)) || OVERFLOW_PATTERNS.some((pattern) => pattern.test(text))

const OVERFLOW_CODE =
  /^(?:context_(?:length|window)_exceeded|exceed_context_size_error|too_many_(?:prompt_)?tokens|model_max_prompt_tokens_exceeded|tokens_limit_reached)$/i

const OVERFLOW_PATTERNS: readonly RegExp[] = [
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

/** Returns whether a file in the request, or the entire request, is larger or longer than this vendor accepts, regardless of the status. */
export const isFileTooLarge = ({ text, codes }: ProviderError): boolean =>
  codes.some((code) => TOO_LARGE_CODE.test(code)) || TOO_LARGE_PATTERN.test(text) || SIZE_EXCEEDED_PATTERN.test(text)

/** Returns whether a 413's message only says that something is too large. Proxies send a web page, or nothing at all. */
export const isOnlyTooLarge = ({ text }: ProviderError): boolean =>
  text === '' || /^\s*<|\b(?:large|big|long|size|exceed(?:s|ed)?|limit|max(?:imum)?)\b/i.test(text)

const TOO_LARGE_CODE =
  /^(?:(?:file|audio|image|request|payload|content|body)[_-]?(?:size[_-]?)?(?:(?:is[_-]?)?too[_-]?(?:large|big|long)|exceeded|limit[_-]?exceeded)|(?:max(?:imum)?[_-]?)?(?:file|audio|upload)[_-]?(?:size|length|duration)[_-]?exceeded)$/i

const TOO_LARGE_PATTERN =
  /\b(?:files?|audio|images?|videos?|pdfs?|documents?|uploads?|attachments?|payload|request entity|body|recordings?)\b(?: (?:is|has|have|are) [\d.]{1,12} ?(?:[kmg]i?b|pages|pixels)\b|.{0,60}\b(?:too (?:large|big|long)\b|(?:exceed(?:s|ed)?|over|above|(?:longer|larger|greater|bigger|more) than|(?:must|should|can only|has to|have to) be (?:less|smaller|shorter|lower|below|under|at most|up to))\b.{0,60}(?:\bmax|limit|\d ?[kmg]i?b\b|bytes|seconds|minutes|pages|pixels)))/i

const SIZE_EXCEEDED_PATTERN =
  /\bmax(?:imum)? (?:content|file|upload|image|audio) size\b|\b(?:payload|content|file|image|upload) size (?:exceed|limit)|\bfile size: ?\d|\bmaximum of \d+ PDF pages/i

/**
 * Returns whether a quota or a spending limit is used up. The message doesn't say whether the account has no credit or whether its limit resets soon
 * (Google).
 */
export const isQuotaExhausted = ({ text, codes, isSecondHand }: ProviderError): boolean =>
  !isSecondHand && (codes.some((code) => QUOTA_CODE.test(code)) || QUOTA_PATTERN.test(text))

const QUOTA_CODE = /^insufficient_quota$|^quota_limited$|^spend_?limit/i
const QUOTA_PATTERN = /insufficient_quota|exceeded your current quota|credit balance|spend(?:ing)? limit/i

/** Returns whether an account's spending limit is used up. Anthropic also returns a 400, whose text may quote the request. */
export const isSpendLimit = ({ text, codes }: ProviderError): boolean =>
  codes.some((code) => /^spend_?limit/i.test(code)) || /^You have reached your spend(?:ing)? limit/.test(text)

/**
 * Returns whether the provider rejected the API key (Google and xAI: 400, Brave: 422). The pattern is anchored, so that request text quoted in an
 * error can't disable a connection.
 */
export const isInvalidKey = ({ text, codes }: ProviderError): boolean =>
  codes.some((code) => code === 'API_KEY_INVALID' || code === 'SUBSCRIPTION_TOKEN_INVALID') ||
  /^(?:API key (?:not valid|expired)|Incorrect API key provided)\b/.test(text)
