import { createGateway } from 'signalbox'
import { toLambdaHandler } from 'signalbox/lambda'
import { memoryStorage } from 'signalbox/storage/memory'

/** A gateway with a hook that takes longer than the response. */
const gateway = createGateway({
  basePath: '/ai',
  storage: memoryStorage(),
  management: { token: 'test-token-of-thirty-two-characters' },
  logger: false,
  hooks: {
    async onRequest({ status }) {
      await new Promise((resolve) => setTimeout(resolve, 150))
      console.log(`the hook has seen ${status}`)
    },
  },
})
export const handler = toLambdaHandler(gateway)
