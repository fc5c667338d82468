"""Questions as people ask them, by what a person says they want: a fact or an overview."""

SPECIFIC = """
    What is exponential backoff?
    What is the learning rate?
    What learning rate did they use?
    Why do residual connections help?
    How does a max-pooling layer differ from average pooling?
    How do I reset my router?
    How much does the second plan cost?
    Who is responsible for the migration?
    When is the next release?
    Where is the config file stored?
    What did Anna say about the budget?
    What did we decide about the deadline?
    Which option did the team choose for hosting?
    Was the proposal accepted?
    What was the reason for the delay?
    What remote control colours were rejected?
    What did the industrial designer think of rubber buttons?
    Why did the committee reject the amendment?
    What is the argument against free will in chapter three?
    What happens to Pip after he goes to London?
    How does the author define justice?
    What year did the war end?
    What does “entropy” mean here?
    What is the derivative of sin x?
    State the mean value theorem
    Prove that there are infinitely many primes
    Define eigenvalue
    Give an example of a monoid
    Name the three laws of thermodynamics
    Explain the chain rule
    Explain why the sky is blue
    Show me how to fold a paper crane
    Can I freeze the dough?
    How long should the bread rest?
    At what temperature does the sauce curdle?
    Which oil should I use for frying?
    Does caffeine affect sleep?
    What causes migraines?
    What are the side effects of ibuprofen?
    What is the difference between TCP and UDP?
    What is the difference between a list and a tuple?
    How is attention computed?
    Why is the softmax scaled by the square root of the dimension?
    What loss function is used for training GANs?
    How can I avoid overfitting?
    How does the garbage collector find cycles?
    What port does the server listen on?
    Is Python pass by reference?
    Why is my loss NaN?
    What does the speaker mean by a leaky abstraction?
    How did the speaker get into climbing?
    What camera does she use?
    What advice does she give to beginners about chalk?
    Which book does he recommend?
    What is Bayes' theorem used for?
    How does quorum work?
    What is the trick with the towel?
    How do bees find their way home?
    Why do leaves turn red?
    What were the casualties at Verdun?
    What did Churchill reply to the telegram?
    Gradient descent
    Convolutional neural networks
    Energy-based models
    Poisson processes
    The law of total probability
    Buttons and interface design
    Bitcoin script opcodes
    Segregated witness
    Variational autoencoders
    Recurrent networks and LSTMs
    User requirements and target group
    Budget for marketing
    Installing the software
    Backpropagation through time
    Homework policy
    Conclusion of the proof
    Introduction to probability
    Properties of convolutions
    Applications of the central limit theorem
    Problem: the exploding gradient
    Covariance vs correlation
    Transformers
    kubernetes ingress timeout
    pivot table refresh shortcut
    error 0x80070005
    how to sharpen a chisel
    self-supervised learning of images
    Examples
    Q&A about funding
    Was ist eine Eigenfrequenz?
    Wie berechnet man die Steigung?
    Warum ist der Himmel blau?
    Welche Farbe hat das Gehäuse?
    Was hat Anna zum Budget gesagt?
    Gradientenabstieg
    Der Satz von Bayes
    Erkläre die Kettenregel
    Wie viel kostet der Tarif?
    Comment fonctionne la pompe à chaleur ?
    Pourquoi le ciel est-il bleu ?
    Quelle est la formule de l'aire ?
    Qu'est-ce que la photosynthèse ?
    Descente de gradient
    Quel budget a été voté ?
    ¿Cómo se calcula la media?
    ¿Por qué falla el motor?
    ¿Qué es la entropía?
    ¿Cuál es la capital de Perú?
    Redes neuronales convolucionales
"""

BROAD = """
    Summarise the video
    Give me a summary of the meeting
    Summarize the discussion about the remote control
    What is this video about?
    What's the talk about?
    What is the book about?
    What are the key takeaways?
    What are the main points of the lecture?
    What are the most important ideas in chapter 4?
    What topics were discussed in the meeting?
    Which subjects does the course cover?
    What does this lecture cover?
    What did the team talk about?
    What was the meeting about?
    What were the outcomes of the meeting?
    Give me the gist
    tl;dr
    Overview of the course
    Recap of last week's meeting
    Outline the argument of the book
    Give me an overview of deep learning
    Tell me about the Roman Empire
    What do the speakers say about climate change in general?
    What are the themes of the novel?
    What is the central thesis of the book?
    Walk me through the lecture
    What can I learn from this course?
    What should I take away from this?
    Compare the views of the speakers across all interviews
    How do the two lectures differ overall?
    What do all the sources agree on?
    Everything about sourdough
    What do my documents say about privacy as a whole?
    The main ideas of the talk
    Describe the whole process from start to finish
    What is covered in these recordings?
    What are the big open questions in the field?
    History of cryptography
    Bring me up to speed on the project
    What happened in the meeting?
    What are the highlights of the keynote?
    List all the topics
    How is the course structured?
    Table of contents
    Introduce me to topology
    What have we got in this library?
    What is in this collection?
    What kind of documents are here?
    Summary
    Key points
    Fasse das Gespräch zusammen
    Worum geht es in diesem Buch?
    Was sind die wichtigsten Punkte?
    Gib mir einen Überblick über die Vorlesung
    Was sind die Hauptthemen des Kurses?
    Welche Themen werden behandelt?
    Zusammenfassung der Sitzung
    Résume la réunion
    De quoi parle ce livre ?
    Quels sont les points principaux ?
    Donne-moi un aperçu du cours
    Quels thèmes sont abordés ?
    Resume el vídeo
    ¿De qué trata el libro?
    ¿Cuáles son las ideas principales?
    Dame un resumen de la reunión
    ¿Qué temas se tratan?
"""

# Written after the rules were settled with those above.

LATER_SPECIFIC = """
    What is a hash collision?
    Why do planes leave contrails?
    How does the speaker justify the second assumption?
    What was the vote on item seven?
    Who will write the minutes?
    What does Darcy write in his letter?
    Which chapter explains recursion?
    How do I tie a bowline?
    What dose did the trial use?
    Does the warranty cover water damage?
    What is the lecturer's objection to utilitarianism?
    What are the ingredients of the marinade?
    How is the variance estimated?
    When do seedlings need fertiliser?
    Which metric improved after the launch?
    Explain how vaccines train the immune system
    Prove Fermat's little theorem
    Give the formula for compound interest
    State machines
    Cyclic voltammetry
    World War I reparations
    Trace of a matrix
    Review of linear algebra
    Battery life and charging
    docker compose volume permissions
    Marking scheme for the exam
    The derivative of a composition
    Was kostet die Lizenz?
    Wie entsteht ein Regenbogen?
    Erhaltungssätze der Mechanik
    Wer leitet das Projekt?
    Comment calcule-t-on la vitesse ?
    Loi des grands nombres
    ¿Cuándo empieza el curso?
    Teorema de Bayes
    What did the board decide about parental leave?
    Why was the bridge closed?
    What is the best way to descale a kettle?
    How come the test failed on Windows?
    What kind of glue holds the sole?
"""

LATER_BROAD = """
    Summarise chapter two
    What was discussed?
    What's this series about?
    Give me the main arguments of the debate
    Can you summarise the podcast for me?
    What did I miss in the meeting?
    I need an overview of the literature
    Which themes run through all the interviews?
    What do these papers have in common?
    What is the overall message of the talk?
    Short summary please
    What is the general approach of the course?
    What ideas are presented in the lecture?
    What are the lessons learned?
    Catch me up on the last three meetings
    What does the author argue in the book as a whole?
    Worüber wird in der Sitzung gesprochen?
    Fass mir das Video kurz zusammen
    Fais-moi un résumé de la conférence
    ¿Cuáles son los puntos clave de la charla?
"""
