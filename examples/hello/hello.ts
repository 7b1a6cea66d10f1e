import { defineTask, Sluice } from '@sluice/sdk';

const hello = defineTask({
  type: 'hello',
  run: (input: { name: string }) => `Hello, ${input.name}`,
});

const sluice = new Sluice();
await sluice.work([hello]);
const task = await sluice.submit(hello, { name: 'Ada' });
console.log(await task.result());
await sluice.close();
