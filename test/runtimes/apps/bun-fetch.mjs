import { openGateway } from './gateway.mjs'

const { fetch } = openGateway()
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch })
console.log(server.url.origin)
