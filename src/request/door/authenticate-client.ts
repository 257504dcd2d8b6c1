import { type GatewayError, gatewayError } from '../../errors.ts'
import type { Exchange, InternalCaller } from '../../lib/exchange.ts'
import { getBearerToken } from '../../lib/http-headers.ts'
import { getSettledValue } from '../../lib/promises.ts'
import { getKeyRejection } from '../../records/key-format.ts'
import type { ClientKey, KeyLookup } from '../../records/key-lookup.ts'
import type { ExpectedCallers } from '../../records/lazy-read-ahead.ts'
import type { SettingsStore } from '../../records/stored-settings.ts'
import type { Clock } from '../../types.ts'
import { ANONYMOUS_CALLER, type Caller, type CallerAccount, getKeyCaller } from '../caller.ts'
import type { Client } from '../request-client.ts'

/** The dependencies for checking client keys. */
export interface KeyStore {
  clock: Pick<Clock, 'now'>
  settings: Pick<SettingsStore, 'read'>
  /** Loads the key lookup. `read` is for requests that act as a key. */
  loadKeyAccess(): Promise<{ lookup: Pick<KeyLookup, 'find'> & Partial<Pick<KeyLookup, 'read'>> }>
  /** Reads a caller's records ahead. Absent if that isn't necessary. */
  callers?: Pick<ExpectedCallers, 'preload'> | undefined
  /** Finds the account for a key that has one, or the account with the ID `requestedAccount` for a key that acts for accounts. */
  findKeyAccount?(key: ClientKey, requestedAccount: string | undefined): Promise<CallerAccount>
  /** Adds a token to a caller. Absent if tokens aren't accepted. */
  addToken?: AddToken
}

/**
 * Adds a token to a caller. The token's account becomes the caller's, unless it already has one. Rejects with the error that the client gets, such
 * as `TOKEN_EXPIRED`, or `IDENTITY_CONFLICT` if the caller's account or key belongs to another account.
 */
export type AddToken = (caller: Caller, token: string, exchange: Exchange) => Promise<Caller>

/**
 * Returns a request's caller, identified by its client key, or without a key if none is known and none is required (src/rules.md, Client keys).
 * Passes the caller of a known key to `client`, even if the key is rejected, and stops waiting for the storage when the client's timeout ends.
 * Rejects with `KEY_PAUSED` (if the key or its group is paused) or `KEY_EXPIRED` whether or not keys are required, with `KEY_MISSING` or
 * `KEY_UNKNOWN` only if they are, and with `STORAGE_FAILED` if the storage can't be read.
 */
export async function authenticateClient(
  exchange: Exchange,
  store: KeyStore,
  client: Client | undefined,
): Promise<Caller> {
  const lookup = exchange.actsAs ? findActingKey(exchange.actsAs, store) : findKey(exchange, store)
  const { key, isKeyRequired, credentials, addToken } = await (client?.hasTimeout ? client.scope.race(lookup) : lookup)
  const caller = key ? getKeyCaller(key) : ANONYMOUS_CALLER
  if (client) client.caller = caller
  const isKeyMissing = isKeyRequired && !addToken
  const rejection = key
    ? getKeyRejection(key, store.clock.now())
    : isKeyMissing
      ? createUnknownKeyError(credentials)
      : undefined
  if (rejection) throw rejection
  const callerPromise = addToken ? addToken(caller) : key && findAccount(key, exchange, store)
  if (!callerPromise) return checkNamedAccount(exchange, caller)
  const completeCaller = await (client?.hasTimeout ? client.scope.race(callerPromise) : callerPromise)
  if (client) client.caller = completeCaller
  return checkNamedAccount(exchange, completeCaller)
}

/**
 * Returns the caller with a key and its account, or with the account that the request names. Returns `undefined` for a key without either. Rejects
 * with `ACCOUNT_PAUSED`, with `INVALID_REQUEST` for an invalid account ID, and as the storage does.
 */
export function findAccount(key: ClientKey, exchange: Exchange, store: KeyStore): Promise<Caller> | undefined {
  const requestedAccount = key.actsFor && !exchange.actsAs ? exchange.header(ACCOUNT_HEADER) : undefined
  if (key.account === undefined && requestedAccount === undefined) return undefined
  return store.findKeyAccount?.(key, requestedAccount).then((account) => ({ owner: account.ref, key, account }))
}

/** Returns the caller, unless the request names another account, for which it throws `ACCOUNT_NOT_ALLOWED`. */
export function checkNamedAccount(exchange: Exchange, caller: Caller): Caller {
  const requestedAccount = exchange.header(ACCOUNT_HEADER)
  if (requestedAccount !== undefined && requestedAccount !== caller.account?.id)
    throw gatewayError('ACCOUNT_NOT_ALLOWED')
  return caller
}

/** The header in which a remote host names the account of its request. */
const ACCOUNT_HEADER = 'x-signalbox-account'

/**
 * Finds the first of a request's credentials that is a client key, even if it is paused or has expired. `addToken` adds the request's token to its
 * caller, and resolves to `undefined` without a token. Rejects with `IDENTITY_CONFLICT` if the request has two accounts' keys, or two tokens.
 */
export async function findKey(
  exchange: Exchange,
  { settings, loadKeyAccess, callers, addToken: attachToken }: KeyStore,
) {
  const credentials = listPresentedCredentials(exchange)
  if (callers) for (const credential of credentials) callers.preload(credential, exchange.header(ACCOUNT_HEADER))
  const accessPromise = credentials.length > 0 ? loadKeyAccess() : undefined
  const settingsPromise = settings.read()
  const { requireApiKey: isKeyRequired } = getSettledValue(settingsPromise) ?? (await settingsPromise)
  const access = accessPromise && (getSettledValue(accessPromise) ?? (await accessPromise))
  let token: string | undefined
  let key: ClientKey | undefined
  for (const credential of credentials) {
    let isConflict = false
    if (attachToken && credential.startsWith('sbt_')) {
      isConflict = token !== undefined
      token = credential
    } else if (!key || credential.startsWith('sbx_')) {
      const keyPromise = access?.lookup.find(credential)
      const foundKey = keyPromise && (getSettledValue(keyPromise) ?? (await keyPromise))
      isConflict = key !== undefined && foundKey !== undefined && key.account !== foundKey.account
      key ??= foundKey
    }
    if (isConflict) throw gatewayError('IDENTITY_CONFLICT')
  }
  const addToken =
    token === undefined ? undefined : async (caller: Caller) => attachToken?.(caller, token, exchange) ?? caller
  return { key, isKeyRequired, credentials, addToken }
}

/** Finds the key that a request from this process acts as. If the key was deleted in the meantime, it is treated as unknown. */
async function findActingKey({ keyDigest }: InternalCaller, { loadKeyAccess }: KeyStore) {
  const key = keyDigest === undefined ? undefined : await (await loadKeyAccess()).lookup.read?.(keyDigest)
  return { key, isKeyRequired: keyDigest !== undefined, credentials: [], addToken: undefined }
}

/** Lists a request's distinct credentials. Reads all headers, because your app may use `Authorization` for its own users. */
export function listPresentedCredentials(exchange: Exchange): string[] {
  const bearer = getBearerToken(exchange.header('authorization'))
  const credentials = bearer === undefined ? [] : [bearer]
  for (const name of KEY_HEADERS) {
    const value = exchange.header(name)?.trim()
    if (value && !credentials.includes(value)) credentials.push(value)
  }
  return credentials
}

const KEY_HEADERS = ['x-api-key', 'x-goog-api-key', 'api-key']

/**
 * Creates the error for a request without a known client key if one is required: `KEY_MISSING` if it has no credential, otherwise `KEY_UNKNOWN`.
 * `foreignKeyMessage` is the message if no credential looks like a key.
 */
export function createUnknownKeyError(
  credentials: readonly string[],
  foreignKeyMessage = FOREIGN_KEY_MESSAGE,
): GatewayError {
  const headers = { 'www-authenticate': 'Bearer' }
  if (credentials.length === 0) return gatewayError('KEY_MISSING', { headers })
  const looksLikeKey = credentials.some((credential) => /^sbx_(?!admin_)/.test(credential))
  return gatewayError('KEY_UNKNOWN', looksLikeKey ? { headers } : { headers, message: foreignKeyMessage })
}

const FOREIGN_KEY_MESSAGE = `This is not a Signalbox API key. Create one with POST /api/keys. Provider keys belong in connections, and admin tokens are for /api.`
