/** Replaces everything that looks like a credential with `[credential]`: keys with vendors' prefixes, tokens, private keys, and passwords in URLs. */
export function redactCredentialShapes(text: string): string {
  return CREDENTIAL_PATTERNS.reduce(
    (redactedText, shape) =>
      redactedText.replace(shape, (_, prefix: unknown) => (typeof prefix === 'string' ? prefix : '') + REPLACEMENT),
    text.replace(JWT_PATTERN, (match) => (match.includes('.') ? REPLACEMENT : match)),
  )
}

const REPLACEMENT = '[credential]'

/** Also matches strings without a dot, which aren't JWTs. Otherwise, the search would restart at each `eyJ` in them. */
export const JWT_PATTERN = /\beyJ[\w-]{10,}(?:\.[\w-]{10,}(?:\.[\w-]+)?)?/g

/** Patterns that don't match ordinary words. They run in linear time. The text in a capture group is kept. */
export const CREDENTIAL_PATTERNS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
  /\b(?:sk|rk)[-_][\w-]{16,}/g, // OpenAI, Anthropic, DeepSeek, OpenRouter, and many others
  /\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}/g, // Google
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, // AWS
  /\b(?:gsk_|xai-|hf_|r8_|fw_|csk-|pplx-|gh[opsu]_)[A-Za-z0-9]{20,}|\b(?:nvapi-|tgp_v1_|glpat-|github_pat_|sbx_)[\w-]{20,}/g,
  /\bsbt_[\w-]{20,}(?:\.[\w-]+){0,2}/g, // this gateway's tokens
  /\b((?:bearer|basic) {1,4})(?=[A-Za-z_.~+/=-]{0,40}\d)[\w.~+/=-]{12,}/gi,
  /(:\/\/)[^\s/@:"]{1,200}:[^\s/@"]{1,200}(?=@)/g,
]

/** An AWS user's access keys, or a role's temporary keys. */
export interface AwsCredentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

/**
 * Parses `<access key id>:<secret access key>`, optionally with `:<session token>`. Returns `undefined` for any other text, such as a Bedrock API
 * key.
 */
export function parseAwsCredentials(apiKey: string): AwsCredentials | undefined {
  const [, accessKeyId, secretAccessKey, sessionToken] = AWS_CREDENTIALS_PATTERN.exec(apiKey) ?? []
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) }
}

const AWS_CREDENTIALS_PATTERN = /^([A-Z0-9]{16,128}):([A-Za-z0-9/+=]{16,128})(?::([A-Za-z0-9/+=]+))?$/

/** Matches trimmed credentials that can be sent: one word in ASCII, or a key file in JSON. */
export const SENDABLE_PATTERN = /^[\x21-\x7e]+$|^\{/

/** Returns whether a trimmed credential can be sent. */
export const isSendableCredential = (credential: string): boolean => SENDABLE_PATTERN.test(credential)

/** Shorter credentials are placeholders for providers that need none. */
export const MIN_QUOTABLE_LENGTH = 8

/**
 * Lists the forms in which a provider may quote a credential: unchanged, escaped as in JSON, and the secret parts of AWS access keys. Omits short
 * credentials, which are placeholders.
 */
export function listSecretVariants(apiKey: string): string[] {
  const { secretAccessKey, sessionToken } = parseAwsCredentials(apiKey) ?? {}
  const variants = [apiKey, JSON.stringify(apiKey).slice(1, -1), secretAccessKey ?? '', sessionToken ?? '']
  return variants.filter((variant) => variant.length >= MIN_QUOTABLE_LENGTH)
}
