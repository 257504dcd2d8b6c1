import { createGateway } from 'signalbox'
import { memoryStorage } from 'signalbox/storage/memory'

const gateway = createGateway({
  basePath: '/ai',
  storage: memoryStorage(),
  management: { token: 'test-token-of-thirty-two-characters' },
  logger: false,
})
const handler = (request) => gateway.fetch(request)

export { handler as DELETE, handler as GET, handler as OPTIONS, handler as PATCH, handler as POST, handler as PUT }
