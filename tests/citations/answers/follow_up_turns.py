"""Questions, follow-ups, and what a person would look up for the follow-up."""

from tests.citations.text_tables import rows

TURNS = rows("""
    # pronouns
    What is backpropagation? | Why does it work? | Why does backpropagation work?
    What is gradient descent? | Who invented it? | Who invented gradient descent?
    How does a max-pooling layer work? | What are its drawbacks? |
      What are a max-pooling layer’s drawbacks?
    What are transformers? | How are they trained? | How are transformers trained?
    Explain the chain rule | Where is it used? | Where is the chain rule used?
    Who is Ada Lovelace? | When was she born? | When was Ada Lovelace born?
    Who wrote Faust? | When did he die? | When did he die? (who wrote Faust)
    Gradient descent | Is it slow? | Is Gradient descent slow?
    What is entropy? | But is it always growing? | Is entropy always growing?
    What is dropout? | And when should it be used? | When should dropout be used?
    What is a mutex? | Explain that simply | Explain a mutex simply
    What is a mutex? | And how does that compare to a semaphore? |
      How does a mutex compare to a semaphore?
    What did Anna propose? | Who was against it? | Who was against it? (what did Anna propose)
    Was ist Osmose? | Warum ist sie wichtig? | Warum ist Osmose wichtig?
    Was ist ein Tensor? | Wozu dient er? | Wozu dient ein Tensor?
    Qu'est-ce que l'entropie ? | Comment se mesure-t-elle ? |
      Comment se mesure-t-elle ? (l'entropie)
    # bare
    Is the sky blue? | Why? | Why is the sky blue?
    Does caffeine affect sleep? | How? | How does caffeine affect sleep?
    When was the treaty signed? | Where? | Where was the treaty signed?
    How does max-pooling work? | Why? | Why does max-pooling work?
    Who invented the telescope? | When? | Who invented the telescope, and when?
    What is backpropagation? | And why? | What is backpropagation, and why?
    Was ist Osmose? | Und warum? | Was ist Osmose, und warum?
    Qui a inventé le télescope ? | Et quand ? | Qui a inventé le télescope, et quand ?
    # ellipsis
    How many people live in France? | And in Germany? | How many people live in Germany?
    How do I install the app on Linux? | and on Windows? | How do I install the app on Windows?
    What is the tax rate? | What about in Germany? | What is the tax rate in Germany?
    What is the capital of France? | And of Spain? | What is the capital of Spain?
    What is the capital of France? | And Germany? | What is the capital of Germany?
    What is gradient descent? | What about momentum? | What is momentum?
    How does TCP work? | And UDP? | How does UDP work?
    What is quicksort? | How about mergesort | What is mergesort?
    What are the advantages of Rust? | And the disadvantages? | What are the disadvantages of Rust?
    What is a heat pump? | And the cost? | What is the cost of a heat pump?
    What is a heat pump? | What about its cost? | What about a heat pump’s cost?
    Wie hoch ist der Eiffelturm? | Und der Kölner Dom? | Wie hoch ist der Kölner Dom?
    Wie viele Menschen leben in Frankreich? | Und in Deutschland? |
      Wie viele Menschen leben in Deutschland?
    Combien d'habitants en France ? | Et en Espagne ? | Combien d'habitants en Espagne ?
    What did we decide about the budget? | And the deadline? |
      What did we decide about the deadline?
    # more
    What is backpropagation? | Tell me more | Tell me more about backpropagation
    What is backpropagation? | go on | What is backpropagation?
    What did we decide about the budget? | More details please |
      What did we decide about the budget?
    What is backpropagation? | Tell me more about that | Tell me more about backpropagation
    Was ist Osmose? | Erzähl mehr | Was ist Osmose?
    What is a monoid? | Give an example | Give an example of a monoid
    What is a monoid? | For example? | Give an example of a monoid
    What did Anna propose? | Can you give me an example? |
      Can you give me an example? (what did Anna propose)
    What is a monoid? | What do you mean? | What is a monoid?
    # corrections
    What is gradient descent? | No, I meant gradient boosting | What is gradient boosting?
    What is the capital of France? | I meant Spain | What is the capital of Spain?
    What is gradient descent? | No, I meant how is boosting done? | How is boosting done?
    Was ist Osmose? | Nein, ich meinte Diffusion | Was ist Diffusion?
    # something new
    What is backpropagation? | What is entropy? | What is entropy?
    What is backpropagation? | Who is Ada Lovelace? | Who is Ada Lovelace?
    What is backpropagation? | When was the treaty of Versailles signed? |
      When was the treaty of Versailles signed?
    What is backpropagation? | Why is the sky blue? | Why is the sky blue?
    What is backpropagation? | And what is momentum? | What is momentum?
    What is backpropagation? | Sorting | Sorting
    What is backpropagation? | Summarise the lecture | Summarise the lecture
    What is backpropagation? | Is it true that the earth is round? |
      Is it true that the earth is round?
    What is backpropagation? | Is there proof that cells divide? | Is there proof that cells divide?
    What is backpropagation? | Thanks! | Thanks!
    What is backpropagation? | Why does backpropagation work, and is it fast? |
      Why does backpropagation work, and is it fast?
    Was ist Osmose? | Wer war Goethe? | Wer war Goethe?
    # what has no noun to put in
    How do stacks and queues differ? | Which one is faster? |
      Which one is faster? (how do stacks and queues differ)
    What is a CNN? | And how many layers are there? | How many layers are there? (a CNN)
    # written when the rules were settled with those above; what read badly was mended
    What is a neural network? | how does it learn | How does a neural network learn
    What is a neural network? | and what are the weights? | What are the weights? (a neural network)
    How does photosynthesis work? | why is that important? | Why is photosynthesis important?
    Summarise the lecture | what else? | Summarise the lecture
    Summarise the lecture | and the homework? | Summarise the homework
    What did the CEO say about layoffs? | when did he say that? |
      When did he say that? (what did the CEO say about layoffs)
    What did the CEO say about layoffs? | what about hiring? | What did the CEO say about hiring?
    How long does the dough rest? | and the bread? | How long does the bread rest?
    How long does the dough rest? | and at what temperature? |
      At what temperature? (how long does the dough rest)
    What is Kubernetes? | is there an alternative? | Is there an alternative? (Kubernetes)
    What is Kubernetes? | How do I install Docker? | How do I install Docker?
    What were the results of the election in 2016? | and in 2020? |
      What were the results of the election in 2020?
    Who is the CFO? | and the CTO? | Who is the CTO?
    Who is the CFO? | since when? | Who is the CFO, and since when?
    What is RAID 5? | difference to RAID 6? | Difference to RAID 6? (RAID 5)
    What is RAID 5? | RAID 6? | What is RAID 6?
    What is RAID 5? | compare it with RAID 6 | Compare RAID 5 with RAID 6
    What is RAID 5? | can you explain it like I'm five? | Can you explain RAID 5 like I'm five?
    What is RAID 5? | ok, and what happens if a disk fails? | What happens if a disk fails? (RAID 5)
    What is RAID 5? | no, RAID 6 | What is RAID 6?
    Why did Rome fall? | who was emperor then? | Who was emperor then? (why did Rome fall)
    Why did Rome fall? | are you sure? | Why did Rome fall?
    Was kostet die Lizenz? | Und für Studenten? | Was kostet die Lizenz für Studenten?
    Was kostet die Lizenz? | Warum so viel? | Was kostet die Lizenz, und warum so viel?
    Comment fonctionne la pompe à chaleur ? | Et en hiver ? |
      Comment fonctionne la pompe à chaleur en hiver ?
    What is the main argument of the book? | does she give evidence for it? |
      Does she give evidence for the main argument of the book?
    Gradient descent | learning rate | learning rate
    What is attention? | what is its complexity and can it be reduced? |
      What is attention’s complexity and can it be reduced?
    Which databases were compared? | which was fastest? |
      Which was fastest? (which databases were compared)
    Which databases were compared? | Which is the largest planet? | Which is the largest planet?
    What is TLS? | And SSL? | What is SSL?
    How do I bake bread? | gluten free? | Gluten free: how do I bake bread?
    Who founded Rome? | tell me more about him | Tell me more about him (who founded Rome)
    What does the speaker say about sleep? | and about food? | What does the speaker say about food?
    What is the boiling point of water? | and at high altitude? |
      What is the boiling point of water at high altitude?
    ¿Qué es la entropía? | ¿Y por qué? | ¿Qué es la entropía, y por qué?
    ¿Qué es la entropía? | ¿Quién la descubrió? | ¿Quién la descubrió? (la entropía)
    What is an eclipse attack? | Any ways to prevent that? | Ways to prevent an eclipse attack?
    What is an eclipse attack? | Any downsides? | Any downsides of an eclipse attack?
    What is a mutex? | Any benefits of the chain rule? | Any benefits of the chain rule?
    What is entropy? | Anything on max pooling layers? | Anything on max pooling layers?
    What is a qubit? | In the talk “Qubits”, how is it measured? |
      In the talk “Qubits”, how is a qubit measured?
""")
