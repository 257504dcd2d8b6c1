import { createInputError } from '../../../admin/input.ts'
import type { KeyOperations } from '../../../admin/keys.ts'
import { gatewayError } from '../../../errors.ts'
import type { WritableStore } from '../../../records/writable-store.ts'
import type { Catalog } from '../../../types.ts'
import type { Pushes } from './cloud-pushes.ts'
import type { CloudReplica, CloudReplicaDependencies, ProxyContext } from './cloud-replica.ts'

/** The dependencies of the cloud sync operations, which start and stop `pushes`, the automatic syncs. */
export interface CloudDependencies extends CloudReplicaDependencies {
  replica: CloudReplica
  pushes: Pushes
  keys: Pick<KeyOperations<unknown>, 'create' | 'delete'>
  catalog: Catalog
}

/** Reads the proxy's URL and whether cloud sync is on. Throws `INVALID_REQUEST` if there is no URL. */
export async function readCloudSettings(store: WritableStore): Promise<{ cloudUrl: string; cloudEnabled: boolean }> {
  const { cloudUrl, cloudEnabled } = await store.settings.reread()
  if (cloudUrl === '') throw createInputError(NO_PROXY_MESSAGE)
  return { cloudUrl, cloudEnabled }
}

/** Turns cloud sync on or off, unless it already is. Throws `CLOUD_CONFLICT` if the proxy's URL has changed. */
export async function setEnabled(
  store: WritableStore,
  cloudEnabled: boolean,
  { cloudUrl, signal }: ProxyContext,
): Promise<void> {
  if ((await store.settings.reread()).cloudEnabled === cloudEnabled) return
  await store.settings.update((storedSettings) => {
    signal.throwIfAborted()
    if (storedSettings.cloudUrl !== cloudUrl) throw gatewayError('CLOUD_CONFLICT', { message: URL_CHANGED_MESSAGE })
    return { cloudEnabled }
  })
}

const NO_PROXY_MESSAGE = 'No cloud proxy is set up. Send PATCH /api/settings with its URL as "cloudUrl" first.'
const URL_CHANGED_MESSAGE = '"cloudUrl" was changed in the meantime. Send the action again.'
/** The error message for actions that need cloud sync to be on. */
export const CLOUD_OFF_MESSAGE = 'Cloud sync is off. Turn it on first: POST /api/sync/cloud with the action "enable".'
