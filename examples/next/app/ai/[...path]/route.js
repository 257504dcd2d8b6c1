import { openGateway } from '../../../gateway.js'

const handler = async (request) => (await openGateway()).fetch(request)

export { handler as DELETE, handler as GET, handler as OPTIONS, handler as PATCH, handler as POST, handler as PUT }
