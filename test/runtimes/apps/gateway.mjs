import { createGateway } from 'signalbox'
import { memoryStorage } from 'signalbox/storage/memory'

/** The gateway that each runtime serves. It starts empty, and uses the tests' admin token. */
export const openGateway = (storage = memoryStorage()) =>
  createGateway({
    storage,
    management: { token: 'test-token-of-thirty-two-characters' },
    logger: false,
    limits: { maxBodyBytes: 1024 * 1024, bodyTimeoutMs: 3_000 },
  })
