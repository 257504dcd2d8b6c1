import { createGateway } from 'signalbox'
import { memoryStorage } from 'signalbox/storage/memory'
import { toWorkersHandler } from 'signalbox/workers'

export default toWorkersHandler((env) =>
  createGateway({ storage: memoryStorage(), management: { token: env.SIGNALBOX_ADMIN_TOKEN }, logger: false }),
)
