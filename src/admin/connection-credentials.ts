import { type Destination, destinationFields, getApiKeyContext } from '../records/keyring.ts'
import type { ConnectionRecord } from '../records/record-collections.ts'
import { decryptApiKey } from '../records/store.ts'
import type { WritableStore } from '../records/writable-store.ts'
import type { ParsedConnection } from './connection-input.ts'
import { createInputError } from './input.ts'
import { describeUrlChange } from './shortened-secrets.ts'

/** Reads and encrypts connections' credentials, each for the URL it is sent to. */
export class ConnectionCredentials {
  readonly #store: WritableStore

  constructor(store: WritableStore) {
    this.#store = store
  }

  async encrypt(destination: Destination, apiKey: string): Promise<string> {
    return (await this.#store.keyring()).encrypt(getApiKeyContext(destination), apiKey)
  }

  /** Resolves to `undefined` for a credential that can't be decrypted, so the rest of the connection can be shown. */
  async read(record: ConnectionRecord): Promise<string | undefined> {
    if (record.sealedApiKey !== undefined) await this.#store.keyring() // throws if no credential can be decrypted
    return decryptApiKey(this.#store, record).catch(() => undefined)
  }

  /** Resolves to whether the credential stays the same. */
  async isSameKey(record: ConnectionRecord, apiKey: string | null | undefined): Promise<boolean> {
    if (apiKey === undefined) return true
    return apiKey === null ? record.sealedApiKey === undefined : apiKey === (await this.read(record))
  }

  /**
   * Encrypts a changed connection's credential: the given one, or the stored one if its destination changed; `null` removes it. Throws
   * `INVALID_REQUEST` if the stored one would be sent to another host.
   */
  async reencrypt(
    nextRecord: ConnectionRecord,
    { previousRecord, apiKey }: { previousRecord: ConnectionRecord; apiKey: string | null | undefined },
  ): Promise<string | null | undefined> {
    if (typeof apiKey === 'string') return this.encrypt(nextRecord, apiKey)
    if (
      apiKey === null ||
      previousRecord.sealedApiKey === undefined ||
      getApiKeyContext(nextRecord) === getApiKeyContext(previousRecord)
    )
      return apiKey
    const movedField = (['baseUrl', 'resource'] as const).find(
      (field) => getHost(nextRecord, field) !== getHost(previousRecord, field),
    )
    if (movedField)
      throw createInputError(describeUrlChange(`providerSpecificData.${movedField}`, "connection's key is", 'apiKey'))
    const storedKey = await this.read(previousRecord)
    return storedKey === undefined ? undefined : this.encrypt(nextRecord, storedKey) // a credential that can't be decrypted is left unchanged
  }

  /**
   * Prevents a key that an app passes at each start from being sent to a URL that another program wrote to the storage. A stored URL is confirmed if
   * the stored credential was encrypted for it. Otherwise, throws `INVALID_REQUEST` unless the input contains the URL.
   */
  async requireConfirmedUrl(currentRecord: ConnectionRecord, { fields, topLevel }: ParsedConnection): Promise<void> {
    if (fields.providerSpecificData !== undefined || (await this.read(currentRecord)) !== undefined) return
    const field = destinationFields.find(
      (name) => currentRecord.providerSpecificData?.[name] !== undefined && !(name in topLevel),
    )
    if (field)
      throw createInputError(
        `"apiKey" would be sent to the stored "${field}", which was not confirmed with a key that can be decrypted. Send "providerSpecificData" as well, or null for the provider's default URL`,
      )
  }
}

/** Returns a setting that determines the host to call. */
const getHost = ({ providerSpecificData }: ConnectionRecord, field: 'baseUrl' | 'resource') =>
  providerSpecificData?.[field]?.replace(/\/$/, '')
