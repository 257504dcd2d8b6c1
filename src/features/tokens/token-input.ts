import * as v from 'valibot'
import {
  alternatives,
  closedObject,
  createInputError,
  createIntegerSchema,
  fields,
  parseInput,
} from '../../admin/input.ts'
import { createSchema } from '../../admin/schemas.ts'
import { isAccountId } from '../../lib/account-ids.ts'
import { isOrigin } from '../../lib/urls.ts'
import type { IsoTime } from '../../types/plain-types.ts'
import { allowedKinds, allowedModels, ownerMetadata, usageLimits } from '../../types/records/limit-fields.ts'
import { name, type Shape } from '../../types/records/shapes.ts'
import { dataTags } from '../../types/records/tag-fields.ts'
import { MAX_LIFETIME_S, type TokenSettings } from './token-claims.ts'

/** Input for minting a token. Anyone who has the token can read all of these fields except the lifetime. */
export interface NewToken extends TokenSettings {
  /** The lifetime, in seconds or as a string such as `15m`, from 30 to 86,400 seconds. Default: 900 seconds. */
  expiresIn?: number | string
}

/** A new token. It isn't stored; only this response contains it. */
export interface MintedToken {
  /** `sbt_…`; used like an API key. */
  token: string
  /** The token's ID, which appears in the records of its requests. */
  id: string
  expiresAt: IsoTime
}

/** Operations for tokens. */
export interface TokenOperations<Input = never> {
  /** Mints a token that lets a browser or device act for one account. Rejects with `INVALID_REQUEST` for invalid input. */
  mint(options: NewToken | Input): Promise<MintedToken>
}

const DEFAULT_LIFETIME_S = 900
const MIN_LIFETIME_S = 30
const MAX_ORIGINS = 16
const SECONDS_PER_UNIT: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const LIFETIME_MESSAGE = `must be ${MIN_LIFETIME_S} to ${MAX_LIFETIME_S} seconds, or a text such as "15m" or "1h"`

const lifetimeSeconds = createIntegerSchema(MIN_LIFETIME_S, MAX_LIFETIME_S, LIFETIME_MESSAGE)
const lifetimeText = v.pipe(v.string(LIFETIME_MESSAGE), v.regex(/^\d{1,5}[smhd]$/, LIFETIME_MESSAGE))

const createOptionalSchema = <T>(shape: Shape<T>) => v.exactOptional(createSchema(shape) as v.GenericSchema<T>) // the schema matches the shape's type

export const newTokenSchema = closedObject({
  account: v.pipe(
    fields.text,
    v.maxLength(200, 'must not be longer than 200 characters'),
    v.check(
      isAccountId,
      "must be an account's ID in composed Unicode, without control characters and surrounding blanks",
    ),
  ),
  plan: createOptionalSchema(name(512)),
  models: createOptionalSchema(allowedModels),
  kinds: createOptionalSchema(allowedKinds),
  require: createOptionalSchema(dataTags),
  origins: v.exactOptional(
    v.pipe(
      v.array(
        v.pipe(fields.text, v.check<string, string>(isOrigin, 'must be an origin such as "https://app.example.com"')),
        'must be a list of origins',
      ),
      v.minLength(1, 'must not be empty. Omit it for tokens that work outside of browsers'),
      v.maxLength(MAX_ORIGINS, `must not contain more than ${MAX_ORIGINS} origins`),
    ),
  ),
  expiresIn: v.exactOptional(
    alternatives([lifetimeSeconds, lifetimeText], (input) =>
      typeof input === 'number' ? lifetimeSeconds : lifetimeText,
    ),
  ),
  limits: createOptionalSchema(usageLimits),
  metadata: createOptionalSchema(ownerMetadata),
})

/** Parses the input and converts the lifetime to seconds. Throws `INVALID_REQUEST` for invalid input. */
export function parseNewToken(input: unknown): { options: TokenSettings; lifetimeS: number } {
  const { expiresIn = DEFAULT_LIFETIME_S, ...options } = parseInput(newTokenSchema, input)
  const lifetimeS = toSeconds(expiresIn)
  if (lifetimeS < MIN_LIFETIME_S || lifetimeS > MAX_LIFETIME_S)
    throw createInputError(`"expiresIn" ${LIFETIME_MESSAGE}`)
  return { options, lifetimeS }
}

const toSeconds = (lifetime: number | string) =>
  typeof lifetime === 'number' ? lifetime : Number.parseInt(lifetime, 10) * (SECONDS_PER_UNIT[lifetime.slice(-1)] ?? 1)
