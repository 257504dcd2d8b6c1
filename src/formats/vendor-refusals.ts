import type { VendorSaid } from './vendor-said.ts'

/** Does the provider lack the model, or keep it from the account? That says nothing against other models. */
export const saysNoModel = ({ text, codes }: VendorSaid): boolean =>
  codes.some((code) => NO_MODEL_CODE.test(code)) ||
  (codes.includes('not_found_error') && text.startsWith('model: ')) || // Anthropic; of files it says the same type
  NO_MODEL.some((words) => words.test(text))

const NO_MODEL_CODE =
  /^(?:(?:key_|team_|user_|org_)?model_(?:not_?(?:found|available|exist|supported)|access_denied|decommissioned|deprecated|permission_blocked\w*|terms_required)|(?:invalid|unknown|unavailable)_model|(?:Deployment|Model)NotFound|Model\.AccessDenied|dedicated_endpoint_not_running)$/i

/** The name must be a single word, so that no sentence about something else matches. */
const NO_MODEL: readonly RegExp[] = [
  /^(?:the |this |requested |publisher )*model(?: id| name)?:? *(?:(?:`[^`]*`|\S+) *)?(?:does )?not (?:exist|found)\b/i,
  /^(?:the |this |requested |publisher )*model *(?:(?:`[^`]*`|\S+) *)?(?:was not found|is not (?:found|available|supported)(?:\.|,|$| by provider )|has been (?:deprecated|decommissioned|retired|removed)|is no longer (?:available|supported))/i,
  /^(?:invalid params, )?(?:invalid|unknown|unavailable|not found the|unable to access(?: non-serverless)?) model\b/i,
  /^models\/\S+ is (?:not found|no longer available)/, // Google
  /^No endpoints found for \S|^\S+ is not a valid model ID/, // OpenRouter; what "no endpoints" can not do is up to the request
  /^The API deployment for this resource does not exist/, // Azure
  /provided model identifier|model version has reached the end of its life|marked by provider as Legacy|model ID \S+ with on-demand throughput/, // Bedrock
  /^No models? loaded|^Function \S+: Not found for account/, // LM Studio, NVIDIA
]

/** Is it nothing that the request names that was not found, but the address that was asked? A page says so, or nobody's error. */
export const saysNoPath = (said: VendorSaid): boolean => said.param === undefined && saysNotFound(said)

/** Is the model not found by the field that the error names, though not by its words? */
export const saysNoModelField = (said: VendorSaid): boolean => said.param === 'model' && saysNotFound(said)

const saysNotFound = ({ text, codes }: VendorSaid) => (text === '' && codes.length === 0) || NO_PATH.test(text)

const NO_PATH =
  /^\s*<|^(?:404:? )?(?:(?:page|resource|route|path|url) )?not found\.?\s*$|^Invalid URL \((?:GET|POST) |^no Route matched with those values/i // then OpenAI, Kong

/** Does the provider, or its model, not compact conversations? */
export const saysNoCompaction = ({ text }: VendorSaid): boolean =>
  /\bcompact/i.test(text) && /not (?:support|available|enabled|implement|allow)|n't support|unsupported/i.test(text)

/** Is it a model that the account may not use, and not the key that is no good? */
export const saysModelDenied = (said: VendorSaid): boolean => saysNoModel(said) || DENIED.test(said.text)

const DENIED =
  /(?:access(?: to)?|use|sample from|invoke) (?:the |this |that |requested )*model\b|\bmodel\b[^.]{0,80} (?:is )?(?:not (?:allowed|enabled|permitted|authorized)|blocked)|model access (?:is )?denied|:(?:foundation-model|inference-profile)\//i

/** Is the request refused for its content, although the status is about the account? */
export const saysContentRefused = ({ text, codes }: VendorSaid): boolean =>
  codes.some((code) => REFUSED_CODE.test(code)) ||
  /^Content violates usage guidelines|requires moderation\b.{0,40} flagged|^You do not have permission to access the (?:File|CachedContent)|^CachedContent not found/.test(
    text,
  )

const REFUSED_CODE =
  /^(?:content_filter(?:ed)?|flagged_input|moderation_blocked|data_?inspection_?failed|ResponsibleAIPolicyViolation|\w+_policy_violation)$/i

/** Are the codes or words of a 403 about the key, its permissions or its account? */
export const saysKeyRefused = (said: VendorSaid): boolean =>
  said.codes.some((code) => KEY_CODE.test(code)) || (!saysPromptRefused(said) && KEY.test(said.text))

const KEY_CODE =
  /auth|permission|access|\bkey|_key|account|billing|credit|insufficient|organi[sz]ation|project|region|country|credential|signature|ExpiredToken|UnrecognizedClient|suspend|subscription|workspace|tenant/i

const KEY =
  /\bkeys?\b|credential|unauthori[sz]|authori[sz]|authenticat|permission|\baccess\b|account|organi[sz]ation|\bproject\b|\bteam\b|workspace|billing|\bcredits?\b|balance|quota|subscription|\bplan\b|countr(?:y|ies)|region|territory|security token|access token|suspended|deactivated|\bIP\b/i

/** Are the words of a 403 about what the prompt holds? */
export const saysPromptRefused = ({ text }: VendorSaid): boolean => PROMPT.test(text) && !OF_ACCOUNT.test(text)

const PROMPT =
  /\b(?:input|prompt|content|message|messages|request|text|image|conversation)\b[^.]{0,80}\b(?:flagged|violat(?:es|ed|ing|ion)|moderation|polic(?:y|ies)|guidelines|unsafe|harmful|inappropriate|prohibited|sensitive|safety)\b|\b(?:flagged|prohibited|inappropriate|harmful|unsafe|sensitive)\b[^.]{0,80}\b(?:input|prompt|content|message|request|text|image)\b|\bsafety system\b|\busage (?:polic(?:y|ies)|guidelines)\b/i

/** It is the account that has violated a policy, or whose own policy forbids it. */
const OF_ACCOUNT =
  /^(?:your |this |the )?(?:account|organi[sz]ation|api key|key|project|team|workspace|user)\b|organi[sz]ation'?s? polic/i

/** Is it the one request that costs more than the account may spend at once? OpenRouter says so with a 402. */
export const saysOverBudget = ({ codes }: VendorSaid): boolean => codes.includes('weight_exceeds_budget')

/** Is it what the account may spend on requests at the same time, which is free again in seconds? OpenRouter says so with a 402. */
export const saysBudgetInUse = ({ codes }: VendorSaid): boolean => codes.includes('openrouter_in_flight_budget')

/** Is it the address that takes no such request, and not something that the request holds? */
export const saysNoMethod = ({ text, codes }: VendorSaid): boolean =>
  codes.length === 0 || text === '' || /\bmethods?\b|not allowed to (?:GET|POST)/i.test(text)

/** Is it a page, as proxies send in place of an API's error? */
export const saysPage = ({ text, codes }: VendorSaid): boolean => codes.length === 0 && /^\s*</.test(text)

/** Is it a quota that is spent? Bedrock says so with a 400. */
export const saysQuotaSpent = ({ codes }: VendorSaid): boolean => codes.includes('ServiceQuotaExceededException')

/** Is it the model that failed? Bedrock says so with a 424. */
export const saysModelFailed = ({ codes }: VendorSaid): boolean => codes.includes('ModelErrorException')

/** Does a limit hold for one model, so that the account's others may go on? */
export const saysOneModel = ({ text, quotas }: VendorSaid): boolean =>
  quotas.some((id) => /PerModel|PerBaseModel/i.test(id)) || ONE_MODEL.test(text)

const ONE_MODEL =
  /\b(?:this|the|specific|for|and|base) (?:this )?model\b|\bmodel: ?\S|per_base_model|By ?Model|^(?:Rate limit reached|Request too large) for (?!default)\S+ in organization|^Your requests to \S+ for \S+ in |is temporarily rate-limited upstream/i

/** Has the account run out of money? Waiting does not help then, whatever the status says. */
export const saysNoMoney = ({ text, codes, isSecondHand }: VendorSaid): boolean =>
  !isSecondHand && (codes.some((code) => NO_MONEY_CODE.test(code)) || NO_MONEY.test(text))

const NO_MONEY_CODE =
  /^(?:insufficient_(?:quota|balance|credits|funds)|billing_\w+|budget_exceeded|exceeded_current_quota_error|Arrearage)$/i

const NO_MONEY =
  /^Your (?:credit balance is too low|team \S+ has either used all available credits)|^You have reached your specified (?:workspace )?API usage limits|^余额不足/ // the last: Zhipu

/** Is it the place from which it is called, what it is allowed, or that it is barred, that an account lacks? Some say so with a 400 or 412. */
export const saysAccountRefused = ({ text, codes }: VendorSaid): boolean =>
  codes.includes('organization_restricted') || ACCOUNT_REFUSED.test(text)

const ACCOUNT_REFUSED =
  /^User location is not supported|^Gemini API free tier is not available|^This organization has been disabled|^Account \S+ is suspended, /
