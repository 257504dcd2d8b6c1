// Deploy with `wrangler deploy examples/workers/worker.mjs`, the secret SIGNALBOX_ADMIN_TOKEN, and the compatibility flag "enable_request_signal".
import { createGateway } from 'signalbox'
import { memoryStorage } from 'signalbox/storage/memory'
import { toWorkersHandler } from 'signalbox/workers'

// The storage is in memory, so each isolate starts empty. For persistent data, see examples/cloudflare.
export default toWorkersHandler((env) =>
  createGateway({ storage: memoryStorage(), management: { token: env.SIGNALBOX_ADMIN_TOKEN } }),
)
