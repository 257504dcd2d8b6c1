import type { DisallowedValue, ListItems, NumberShape, TextForm } from '../types/records/shapes.ts'
import { responseConditions } from '../types/unions.ts'
import { isSendableCredential } from './credential-shapes.ts'

/* The requirements for inputs, as predicates. The management API and checks of configuration in code use the same wording. */

/** Problems with strings that don't match their pattern. */
export const textFormProblems: Readonly<Record<TextForm, string>> = {
  customId: 'must be 1 to 200 letters, digits, ".", "_", or "-"',
  guardName: 'must be 1 to 64 letters, digits, ".", "_", or "-", and not "none"',
  tagName: 'must be 1 to 64 letters, digits, ".", "_", or "-", and start with a letter',
  comboName: 'must consist of letters, digits, "-", "_", or "."',
  resource: 'must be only the name, not the URL',
  region: 'must be a region such as "us-east-1"',
  project: 'must be a project ID such as "my-project"',
  apiVersion: 'must be a version such as "2024-10-21"',
  deployment: 'must be a deployment name',
}

export const disallowedValueTexts: Readonly<Record<string, string>> & Record<DisallowedValue, string> = {
  function: 'cannot contain "function". Pass the function to the options of createGateway',
  conditional:
    'cannot be "conditional" because connections have no conditions. Set "when" on combo entries, and choose another strategy here',
  'round-robin': 'cannot be "round-robin" because a list only exists for one request. Create a combo instead',
}

export interface ListMessages {
  message: string
  tooMany(max: number): string
  /** The message for an empty list. Default: `describeEmpty`. */
  empty?: string
}

export const listItems = {
  modelIds: { message: 'must be an array of model IDs', tooMany: (max) => `must not contain more than ${max} IDs` },
  models: {
    message: 'must be an array of model names',
    tooMany: (max) => `must not contain more than ${max} models`,
  },
  entries: {
    message: 'must be an array of model names',
    tooMany: (max) => `must not contain more than ${max} models`,
    empty: 'must contain at least one model',
  },
  kinds: { message: 'must be an array of kinds', tooMany: (max) => `must not contain more than ${max} kinds` },
  tiers: {
    message: 'must be an array of prices, each with "above"',
    tooMany: (max) => `must not have more than ${max} tiers`,
  },
  guards: {
    message: 'must be an array of guard names',
    tooMany: (max) => `must not contain more than ${max} guards`,
  },
  texts: {
    message: 'must be an array of strings',
    tooMany: (max) => `must not contain more than ${max} strings`,
    empty: 'must contain at least one string',
  },
  conditions: {
    message: `must be an array of ${responseConditions.map((responseCondition) => `"${responseCondition}"`).join(', ')}`,
    tooMany: () => NO_DUPLICATES_MESSAGE,
  },
} as const satisfies Readonly<Record<ListItems, ListMessages>>

export const NO_DUPLICATES_MESSAGE = 'must not contain duplicates'
export const NO_PRICE_MESSAGE = 'must contain a price, such as "input"'
export const NO_MODEL_MESSAGE = 'must be a string or an object with "model"'
export const CLOUD_ACTION_ONLY_MESSAGE =
  'can only be changed by POST /api/sync/cloud with the action "enable" or "disable"; omit it'
export const COOLDOWNS_MESSAGE = 'must not have a "cooldownMs" above its "maxCooldownMs"'

/** Problems with combo entry conditions. */
export const conditionTexts = {
  empty: 'must contain a condition; omit it for an entry that applies to all requests',
  function: 'can only be set in code, where "when" is the function itself',
  size: 'must be a whole number of bytes',
  noSize: 'must have "min", "max", or both',
  sizes: 'must have a "min" no greater than its "max"',
  texts: 'must be a string or an array of strings',
  pattern: 'must be a string, an array of strings, true, or false',
  patterns: 'must be an object whose values are patterns',
  noPatterns: 'must contain at least one',
  headerName: 'is not a header name',
} as const

export const HEADER_NAME_PATTERN = /^[\w!#$%&'*+.^`|~-]+$/

/** The problem with a first cooldown that is longer than the maximum. */
export const describeCooldowns = (cooldownMs: number, maxCooldownMs: number) =>
  `must not be above "health.maxCooldownMs": ${cooldownMs}, ${maxCooldownMs}`

/** Requires at least one field or item. `omission` explains how to specify none. */
export const describeEmpty = (omission: string) => `must not be empty. For no restriction, ${omission}`
export const describeLength = (max: number) => `must not be longer than ${max} characters`
export const describeFields = (max: number) => `must not have more than ${max} fields`
export const describeNames = (problem: string) => `has an invalid field name: each ${problem}`
export const describeLiteral = (max: number) => `must be a string of 1 to ${max} characters`
export const describeChoice = (options: readonly string[]) =>
  `must be one of ${options.map((option) => `"${option}"`).join(', ')}`
/** The problem with a `promptCaching` that is neither a known word nor an object. */
export const CACHING_MODE_MESSAGE = 'must be "off", "auto", or an object such as { "mode": "auto", "ttl": "1h" }'

/** Control characters and line breaks, which can forge log lines, and unpaired surrogates. */
export const CONTROL_PATTERN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u
export const NO_CONTROL_MESSAGE = 'must not contain control characters'

/** "." and "..", which URLs resolve. */
export const DOT_SEGMENT_PATTERN = /^\.\.?$/
export const NO_DOT_SEGMENT_MESSAGE = 'must not be "." or "..", which cannot be used in a URL'

export function describeNumber({ min, above, max, isInteger }: Omit<NumberShape, 'type'>): string {
  const lowerBound = min ?? (isInteger ? 0 : undefined)
  const upperBound = max ?? (isInteger ? Number.MAX_SAFE_INTEGER : undefined)
  const requirement = `must be a ${isInteger ? 'whole ' : ''}number`
  if (lowerBound !== undefined && upperBound !== undefined) return `${requirement} from ${lowerBound} to ${upperBound}`
  return `${requirement}${lowerBound === undefined ? '' : ` of ${lowerBound} or more`}${above === undefined ? '' : ` above ${above}`}${upperBound === undefined ? '' : ` and up to ${upperBound}`}`
}

/** Returns the problem with a credential, which is sent as a header. `omission` explains how to configure no credential. */
export function findCredentialProblem(text: string, omission: string): string | undefined {
  const credential = text.trim()
  if (credential === '') return `must not be blank. Check that the variable it comes from is set. For none, ${omission}`
  if (credential.includes('…'))
    return 'contains "…", which replaces the hidden part of a key. Send the whole key, or omit it to keep the stored one'
  if (/^(["']).*\1$/s.test(credential)) return 'is in quotes, which would be sent as part of it. Remove them'
  if (!isSendableCredential(credential))
    return 'must be the bare key: one line of ASCII characters without whitespace and without "Bearer"'
  return credential.length > MAX_CREDENTIAL_LENGTH ? describeLength(MAX_CREDENTIAL_LENGTH) : undefined
}

export const MAX_CREDENTIAL_LENGTH = 8_192

/** Returns the problem with a base URL, or `undefined` if the URL is valid. */
export function findBaseUrlProblem(text: string): string | undefined {
  if (!URL.canParse(text) || !/^https?:\/\//i.test(text)) return 'must be a URL that starts with http:// or https://'
  if (text.length > MAX_URL_LENGTH) return describeLength(MAX_URL_LENGTH)
  if (/[\s\\\p{Cc}\p{Cs}]/u.test(text)) return 'must not contain whitespace, backslashes, or control characters'
  const { username, password } = new URL(text)
  if (username !== '' || password !== '') return 'must not contain credentials'
  return /[?#]/.test(text) ? 'must not have a query or a fragment' : undefined
}

const MAX_URL_LENGTH = 2_048

/** Returns the problem with a nonempty cloud proxy URL. */
export function findCloudUrlProblem(url: string): string | undefined {
  const problem = findBaseUrlProblem(url)
  return problem && `${problem}, or be empty`
}

/** The problem with a base URL that ends in `path`, which the gateway appends. */
export const describeEndpoint = (url: string, path: string): string =>
  `must not include "${path}", which the gateway appends. Use "${url.slice(0, -path.length)}"`

/** Ends a problem with a period, unless it already ends a sentence. */
export const endSentence = (problem: string): string => (/[.?]$/.test(problem) ? problem : `${problem}.`)
