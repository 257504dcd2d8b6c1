import { createGateway } from 'signalbox'
import { memoryStorage } from 'signalbox/storage/memory'

export const gateway = createGateway({
  basePath: '/ai',
  storage: memoryStorage(),
  management: { token: 'test-token-of-thirty-two-characters' },
  logger: false,
})
