export const action = async ({ request }) => Response.json(await request.json())
