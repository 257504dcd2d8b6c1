import { createGateway } from 'signalbox'

/** Opens one isolate's gateway on a storage that all isolates share. */
export async function openGateway(storage, { SIGNALBOX_SECRET, SIGNALBOX_ADMIN_TOKEN, APP_KEY, OPENAI_API_KEY }) {
  const missing = Object.entries({ SIGNALBOX_SECRET, SIGNALBOX_ADMIN_TOKEN, APP_KEY, OPENAI_API_KEY }).filter(
    ([, value]) => !value,
  )
  if (missing.length > 0) throw new Error(`Set ${missing.map(([name]) => name).join(', ')}: see README.md`)

  const gateway = createGateway({
    storage,
    secret: SIGNALBOX_SECRET, // encrypts keys and credentials in the storage
    management: { token: SIGNALBOX_ADMIN_TOKEN }, // turns on the management API at /api
  })
  // Writes nothing if nothing has changed, so every isolate can run it.
  await gateway.api.connections.put({ id: 'openai', provider: 'openai', apiKey: OPENAI_API_KEY })
  await gateway.api.keys.put({ name: 'app', key: APP_KEY })
  await gateway.api.settings.update({ requireApiKey: true })
  return gateway
}
